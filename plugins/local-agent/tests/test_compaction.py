"""Tests compaction: made when the history is too long, stored, reused, renewed from the old one;
damaged ones are ignored.
"""

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
    given = {"model": {"primary": "m", "fallbacks": []}, "prompt": "Be kind.", "context_tokens": 500, **config}
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
    for number in range(4):
        run = await ask(host, f"{number} {LONG}")
    made = checkpoint(run)
    assert made is not None
    assert (made["schema_version"], made["summary"], made["conversation_id"]) == (1, "SUMMARY 1", host.conversation_id)
    covered = next(item.seq for item in host.history if item.cursor == made["covers_until"])
    assert covered == 4
    assert made["tokens_before"] > 400

    assert checkpoint(await ask(host, "short")) == made
    assert (len(model.summaries), "SUMMARY 1" in str(model.last[0].content)) == (1, True)

    again = checkpoint(await ask(host, "and on"))
    assert again == made
    await ask(host, f"5 {LONG}")
    newer = checkpoint(await ask(host, f"6 {LONG}"))
    assert newer is not None
    assert newer["summary"] == "SUMMARY 2"
    assert model.summaries[1].startswith("The summary so far:\nSUMMARY 1\n\nWhat was said since:\n")
    assert "0 word" not in model.summaries[1]


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
    stored = {**whole, **broken} if isinstance(broken, dict) else broken
    state = {"conversation": {CHECKPOINT_KEY: stored}}
    config = {"model": {"primary": "m", "fallbacks": []}, "prompt": "Be kind."}
    run = await host.run(FOLDER, "who am I?", config=config, context={"state": state})
    assert run.text == "yes"
    assert [each.content for each in model.last] == ["Be kind.", "I am Ann", "hello Ann", "who am I?"]


async def test_the_providers_count_decides_when_the_history_is_too_long(host: FakeHost, model: Model) -> None:
    model.counted = 1000
    for number in range(2):
        await ask(host, f"{number} {LONG}")
    assert len(model.summaries) == 1


async def test_a_history_of_many_short_messages_is_summarized_too(model: Model) -> None:
    said = [("user" if number % 2 else "assistant", f"number {number}") for number in range(250)]
    host = FakeHost(models={"m": model}, history=said)
    run = await ask(host, "go on", context_tokens=100_000)
    assert [call.action for call in run.calls].count("history_page") == 3
    assert "number 0\n" in model.summaries[0]
    assert "number 249" not in model.summaries[0]
    assert str(model.last[-2].content) == "number 249"
    await ask(host, "and on", context_tokens=100_000)
    assert len(model.summaries) == 1


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
