"""Tests compaction: made beside the answer when most of the budget is used, stored, reused, renewed from the old one;
damaged ones are ignored, and cut ones refused.
"""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import InvokeModel
from parlour_sdk.protocol.state import CHECKPOINT_KEY
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.testing import FakeHost, FakeRun, failure, reply

FOLDER = Path(__file__).parents[1]
LONG = "word " * 160
"""A text of 200 tokens."""


class Model:
    """Summarizes on request and otherwise answers yes. It reports the configured number of tokens."""

    def __init__(self) -> None:
        self.requests: list[InvokeModel] = []
        self.counted = 0

    def __call__(self, request: InvokeModel) -> Any:
        self.requests.append(request)
        said = f"SUMMARY {len(self.summaries)}" if _is_summary(request) else "yes"
        return reply(said, usage=Usage(prompt_tokens=self.counted))

    @property
    def summaries(self) -> list[str]:
        return [str(each.messages[-1].content) for each in self.requests if _is_summary(each)]

    @property
    def last(self) -> list[Message]:
        return self.requests[-1].messages


def _is_summary(request: InvokeModel) -> bool:
    return str(request.messages[0].content).startswith("You keep the memory")


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def host(model: Model) -> FakeHost:
    return FakeHost(models={"m": model})


async def ask(host: FakeHost, text: str, **config: Any) -> FakeRun:
    given = {
        "model": {"primary": "m", "fallbacks": []},
        "prompt": "Be kind.",
        "guidance": False,
        "context_tokens": 500,
        **config,
    }
    run = await host.run(FOLDER, text, config=given)
    assert (run.status, run.warnings) == ("completed", [])
    return run


def checkpoint(run: FakeRun) -> dict[str, Any] | None:
    return run.state["conversation"].get(CHECKPOINT_KEY)


async def test_a_short_history_is_passed_unchanged(host: FakeHost, model: Model) -> None:
    for text in ("one", "two"):
        run = await ask(host, text)
    assert [each.content for each in model.last] == ["Be kind.", "one", "yes", "two"]
    assert (model.summaries, checkpoint(run)) == ([], None)


async def test_a_checkpoint_says_what_it_covers_and_is_reused_until_the_history_is_too_long_again(
    host: FakeHost, model: Model
) -> None:
    for number in range(3):
        run = await ask(host, f"{number} {LONG}")
    made = checkpoint(run)
    assert made is not None
    assert (made["schema_version"], made["summary"], made["conversation_id"]) == (1, "SUMMARY 1", host.conversation_id)
    covered = next(item.seq for item in host.history if item.cursor == made["covers_until"])
    assert covered == 4
    assert made["tokens_before"] > 400

    assert checkpoint(await ask(host, "short")) == made
    assert (len(model.summaries), "SUMMARY 1" in str(model.last[1].content)) == (1, True)

    await ask(host, f"5 {LONG}")
    newer = checkpoint(await ask(host, f"6 {LONG}"))
    assert newer is not None
    assert newer["summary"] == "SUMMARY 2"
    assert model.summaries[1].startswith("The summary so far:\nSUMMARY 1\n\nWhat was said since:\n")
    assert "0 word" not in model.summaries[1]


async def test_the_answer_does_not_wait_for_a_summary() -> None:
    answered, requests = asyncio.Event(), list[InvokeModel]()

    async def model(request: InvokeModel) -> Any:
        requests.append(request)
        if _is_summary(request):
            await answered.wait()
            return "SUMMARY"
        return "yes"

    host = FakeHost(models={"m": model})
    for number in range(3):
        await ask(host, f"{number} {LONG}", context_tokens=800)
    given = {"model": {"primary": "m", "fallbacks": []}, "prompt": "Be kind.", "guidance": False, "context_tokens": 500}
    async with host.start(FOLDER, f"2 {LONG}", config=given) as run:
        await run.until(lambda run: bool(run.messages))
        assert [each.content for each in run.messages] == ["yes"]
        answered.set()
    assert run.status == "completed"
    assert run.state["conversation"][CHECKPOINT_KEY]["summary"] == "SUMMARY"


async def test_a_summary_that_was_cut_is_refused_and_a_code_at_the_end_of_a_long_message_is_in_its_source() -> None:
    sources: list[str] = []

    def answer(request: InvokeModel) -> Any:
        if not _is_summary(request):
            return reply("yes", usage=Usage())
        sources.append(str(request.messages[-1].content))
        return reply("fact 1 is 1 and th", finish_reason="length")

    host = FakeHost(models={"m": answer})
    await ask(host, f"{'word ' * 600}the code is 4711", context_tokens=1000)
    run = await ask(host, LONG, context_tokens=1000)
    made = checkpoint(run)
    assert made is not None
    assert "the code is 4711" in sources[0]
    assert made["summary"].startswith("user: word word")
    assert "and th" not in made["summary"]


async def test_the_summary_model_writes_the_summaries() -> None:
    asked: list[str] = []

    def model(name: str) -> Any:
        return lambda request: asked.append(f"{name} {'sums' if _is_summary(request) else 'answers'}") or name

    host = FakeHost(models={"m": model("m"), "cheap": model("cheap")})
    for number in range(4):
        await ask(host, f"{number} {LONG}", summary_model="cheap")
    assert sorted(set(asked)) == ["cheap sums", "m answers"]


@pytest.mark.parametrize(
    "broken",
    [
        "not an object",
        {"schema_version": 2},
        {"conversation_id": "another"},
        {"summary": " "},
        {"covers_until": "gone"},
        {"tokens_before": "many"},
    ],
)
async def test_an_unusable_checkpoint_is_ignored(model: Model, broken: Any) -> None:
    host = FakeHost(models={"m": model}, history=[("user", "I am Ann"), ("assistant", "hello Ann")])
    whole = {
        "schema_version": 1,
        "summary": "WRONG",
        "covers_until": host.history[-1].cursor,
        "tokens_before": 1,
        "created_at": 1,
        "conversation_id": host.conversation_id,
    }
    kept = {**whole, **broken} if isinstance(broken, dict) else broken
    state = {"conversation": {CHECKPOINT_KEY: kept}}
    config = {"model": {"primary": "m", "fallbacks": []}, "prompt": "Be kind.", "guidance": False}
    run = await host.run(FOLDER, "who am I?", config=config, context={"state": state})
    assert run.text == "yes"
    assert [each.content for each in model.last] == ["Be kind.", "I am Ann", "hello Ann", "who am I?"]


async def test_the_providers_count_decides_when_the_history_is_too_long(host: FakeHost, model: Model) -> None:
    model.counted = 1000
    for number in range(2):
        await ask(host, f"{number} {LONG}")
    assert len(model.summaries) == 1


async def test_a_history_of_many_short_messages_is_read_up_to_the_budget(model: Model) -> None:
    said = [("user" if number % 2 == 0 else "assistant", f"number {number}") for number in range(250)]
    host = FakeHost(models={"m": model}, history=said)
    run = await ask(host, "go on", context_tokens=100_000)
    assert [call.action for call in run.calls].count("history_page") == 3
    assert (str(model.last[1].content), len(model.last), model.summaries) == ("number 0", 252, [])


async def test_a_plain_summary_is_used_when_the_model_can_not_summarize() -> None:
    yes = reply("yes", usage=Usage())
    host = FakeHost(models={"m": lambda request: failure("runtime_error") if _is_summary(request) else yes})
    for number in range(4):
        run = await ask(host, f"{number} {LONG}")
    made = checkpoint(run)
    assert made is not None
    assert made["summary"].startswith("user: 0 word word")


async def test_without_state_the_oldest_messages_are_left_out_and_no_summary_is_made(model: Model) -> None:
    host = FakeHost(models={"m": model}, state_scopes=())
    for number in range(5):
        await ask(host, f"{number} {LONG}")
    assert model.summaries == []
    assert [str(each.content)[:1] for each in model.last] == ["B", "2", "y", "3", "y", "4"]
