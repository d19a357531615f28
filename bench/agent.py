"""Evaluates the local agent: what its model gets and what people see, in recorded conversations.

The model is scripted, so that the figures are the same on every machine. With the variables BENCH_MODEL_URL,
BENCH_MODEL and BENCH_MODEL_KEY a real one, with OpenAI's format, is asked in a group talk too.
"""

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from parlour.core.model.ids import ModelId, ProviderId
from parlour.core.model.model_config import Model, Provider
from parlour.core.models.catalogue import ModelServiceKind
from parlour.providers.models.provider_client import ProviderClient
from parlour.providers.models.timeouts import ModelTimeouts
from parlour_sdk.agents import token_estimates
from parlour_sdk.protocol.content import AgentInput, MediaElement, TextElement
from parlour_sdk.protocol.events import Actor, AgentEvent
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import InvokeModel
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.testing import FakeHost, FakeModel, FakeRun, failure, reply, tool_call
from parlour_sdk.text_files import MAX_INLINE_BYTES

from .report import Figure, Target

PLUGIN = Path(__file__).parents[1] / "plugins" / "local-agent"
NAMES = ("Ann", "Bob", "Cy", "Dee", "Eve")
ROLES = ("owner", "admin", "member", "member", "member")
TURNS = 200
QUICK_TURNS = 30
BUDGET_TOKENS = 16_000
MARGIN_TOKENS = 1500
"""Tokens of the instructions, the tools and the question, beside the history."""
MIN_REUSE_PERCENT = 85
MAX_DELAY_MS = 50
SUMMARY_SECONDS = 0.3
DELAY_SAMPLES = 5
PDF = MediaElement(type="file", name="a.pdf", mime_type="application/pdf", size_bytes=90_000, artifact_id="a-pdf")
Answers = Callable[[InvokeModel], Any]


@dataclass(slots=True)
class Conversation:
    """One conversation of the evaluation, with every request that the model got."""

    model: Answers
    requests: list[InvokeModel] = field(default_factory=list)
    runs: list[FakeRun] = field(default_factory=list)

    def host(self, **tools: Any) -> FakeHost:
        return FakeHost(models={"m": self.recorded}, tools=tools)

    def recorded(self, request: InvokeModel) -> Any:
        """Answers a request of the model, and records it unless it is for a summary."""
        if not is_summary(request):
            self.requests.append(request)
        return self.model(request)

    async def ask(self, host: FakeHost, text: str | AgentInput, actor: Actor | None = None, **config: Any) -> FakeRun:
        given = {"model": {"primary": "m", "fallbacks": []}, "context_tokens": BUDGET_TOKENS, **config}
        event = group_event(len(self.runs)) if actor else None
        run = await host.run(PLUGIN, text, actor=actor, event=event, config=given)
        self.runs.append(run)
        return run

    def reuse_percent(self) -> float:
        """Returns how much of each request is the beginning of the request before, in percent of all characters."""
        texts = [as_text(each) for each in self.requests]
        shared = sum(_common_prefix(before, after) for before, after in pairwise(texts))
        return 100 * shared / sum(map(len, texts[1:]))

    def largest_tokens(self) -> int:
        return max(token_estimates.estimate_messages(each.messages) for each in self.requests)


async def measure(turns: int = TURNS) -> list[Figure]:
    """Runs all conversations; each check counts as passed (1) or failed (0)."""
    talk, answers = await group_talk(turns)
    checks = {**answers, **await failures(), **await overflow(), **await files()}
    figures = [
        Figure("compaction: later first text", await compaction_delay_ms(), "ms", Target(MAX_DELAY_MS)),
        Figure("group talk: turns", turns),
        Figure("group talk: prefix reuse", talk.reuse_percent(), "%", Target(MIN_REUSE_PERCENT, "at least")),
        Figure("group talk: largest request", talk.largest_tokens(), "tokens", Target(BUDGET_TOKENS + MARGIN_TOKENS)),
        *(Figure(name, float(passed), "", Target(1, "at least")) for name, passed in checks.items()),
    ]
    address = os.environ.get("BENCH_MODEL_URL")
    return [*figures, *await with_real_model(address)] if address else figures


async def group_talk(turns: int) -> tuple[Conversation, dict[str, bool]]:
    """Five people talk; each says a number that the bot is not asked for, and one of them asks for such a number."""
    talk = Conversation(_tool_every_fourth())
    host = talk.host(look_up=lambda item: f"{item} costs {len(item) * 7}. {'More about it. ' * 60}")
    right = 0
    for turn in range(turns):
        for speaker in range(2):
            index = (turn + speaker) % len(NAMES)
            host.say("user", f"my number is {turn}-{index}", person(index), heard=True)
        asked = (turn + 1) % len(NAMES)
        before = len(talk.requests)
        question = f"what is the number of {NAMES[asked]}?"
        with_file = AgentInput(contents=[TextElement(text=question), notes(turn)])
        said: str | AgentInput = question if turn % 10 else with_file
        await talk.ask(host, said, person((turn + 3) % len(NAMES)), tools=["look_up"])
        request = as_text(talk.requests[before])
        expected = f" {NAMES[asked]} #{500 + asked} {ROLES[asked]}] my number is {turn}-{asked}"
        right += expected in request and request.count(f"is {turn}-{asked}\n") <= 1
    silent = sum(run.status != "completed" for run in talk.runs)
    return talk, {
        "group talk: the right person's words are in the request": right == turns,
        "group talk: every question is answered": silent == 0,
        "group talk: nobody can speak for another": _heads_are_unforgeable(talk),
    }


async def failures() -> dict[str, bool]:
    """A primary that fails, an answer that is cut, and a model that repeats itself."""
    host = FakeHost(models={"m": failure("provider_failed", "secret words"), "second": "I am here."})
    given = {"model": {"primary": "m", "fallbacks": ["second"]}}
    fallback = await host.run(PLUGIN, "hi", config=given)
    cut = Conversation(_script(reply("One", finish_reason="length"), " two."))
    cut_run = await cut.ask(cut.host(), "tell me")
    loop = Conversation(lambda request: "done" if _has_no_choice(request) else reply(tool_calls=[tool_call("clock")]))
    loop_run = await loop.ask(loop.host(clock="noon"), "when?", tools=["clock"])
    return {
        "failures: the fallback answers": fallback.text == "I am here.",
        "failures: a cut answer is continued": cut_run.text == "One two.",
        "failures: repeated calls end": loop_run.text == "done" and len(loop_run.tool_calls) <= 5,
    }


async def overflow() -> dict[str, bool]:
    """A model whose window is smaller than its configuration says."""
    refusals = 0

    def small(request: InvokeModel) -> Any:
        nonlocal refusals
        if token_estimates.estimate_messages(request.messages) <= 2000:
            return "fine"
        refusals += 1
        return failure("context_too_long", "maximum context length is 2000 tokens")

    talk = Conversation(small)
    host = talk.host()
    for number in range(12):
        await talk.ask(host, f"{number} {'word ' * 700}")
    return {
        "overflow: every message is answered": all(run.text == "fine" for run in talk.runs),
        "overflow: no message is refused twice": 0 < refusals <= len(talk.runs),
    }


async def files() -> dict[str, bool]:
    """A document for models that take files and for others, and a picture that the service refuses."""
    given: dict[str, InvokeModel] = {}
    for name, abilities in (("pdf", ("tools", "files")), ("text", ("tools",))):
        talk = Conversation(lambda request: "read")
        host = FakeHost(models={"m": FakeModel(talk.recorded, abilities=abilities)})
        await talk.ask(host, AgentInput(contents=[TextElement(text="read"), PDF]))
        given[name] = talk.requests[-1]
    refused = Conversation(_script(failure("invalid_argument", "Failed to download image"), "I can't see it."))
    picture = MediaElement(type="image", url="https://example.org/cat.png")
    host = FakeHost(models={"m": FakeModel(refused.recorded, abilities=("vision",))})
    run = await refused.ask(host, AgentInput(contents=[TextElement(text="what is it?"), picture]))
    return {
        "files: a document goes to a model that takes files": _media(given["pdf"]) == [None],
        "files: others get the text of a document": _media(given["text"]) == [MAX_INLINE_BYTES],
        "files: a refused picture is left out": bool(_media(refused.requests[0])) and not _media(refused.requests[1]),
        "files: the person is told of it": run.text.startswith("I can't see it.\n\n(I could not look"),
    }


async def compaction_delay_ms() -> float:
    """Returns how much later the first text comes in a turn that begins a summary, in milliseconds.

    The summary takes longer than that. The shortest of several times counts, without other work of the machine.
    """

    async def model(request: InvokeModel) -> Any:
        if is_summary(request):
            await asyncio.sleep(SUMMARY_SECONDS)
            return reply("People: Ann.", usage=Usage())
        return reply("yes", usage=Usage())

    times: dict[int, list[float]] = {BUDGET_TOKENS: [], 4 * BUDGET_TOKENS: []}
    said = [("user" if number % 2 == 0 else "assistant", f"{number} {'word ' * 100}") for number in range(120)]
    for _ in range(DELAY_SAMPLES):
        for budget, seconds in times.items():
            config = {"model": {"primary": "m", "fallbacks": []}, "context_tokens": budget}
            start = time.perf_counter()
            async with FakeHost(models={"m": model}, history=said).start(PLUGIN, "and now?", config=config) as run:
                await run.until(lambda run: bool(run.deltas))
                seconds.append(time.perf_counter() - start)
    with_summary, without = (min(seconds) for seconds in times.values())
    return max(0.0, 1000 * (with_summary - without))


async def with_real_model(address: str) -> list[Figure]:
    """Asks a real model in a short group talk; the figure is the share of right answers."""
    client, right = _client(address), 0
    model = Model(ModelId("m"), ProviderId("bench"), os.environ.get("BENCH_MODEL", "gpt-5-mini"))

    async def answer(request: InvokeModel) -> Any:
        chunk = await client.invoke(model, request)
        return reply(chunk.text, tool_calls=chunk.tool_calls)

    talk = Conversation(answer)
    host = talk.host()
    try:
        for turn in range(len(NAMES)):
            for index in range(len(NAMES)):
                host.say("user", f"my number is {1000 + 100 * turn + index}", person(index), heard=True)
            question = f"what is the latest number of {NAMES[turn]}? Only the number."
            run = await talk.ask(host, question, person((turn + 1) % len(NAMES)))
            right += str(1000 + 100 * turn + turn) in run.text
    finally:
        await client.close()
    return [Figure("real model: right answers", 100 * right / len(NAMES), "%")]


def _client(address: str) -> ProviderClient:
    provider = Provider(ProviderId("bench"), "bench", "openai-compatible", address)
    kind = ModelServiceKind("openai-compatible", "bench", "openai")
    return ProviderClient(provider, kind, (os.environ.get("BENCH_MODEL_KEY", ""),), ModelTimeouts())


def _common_prefix(first: str, second: str) -> int:
    return next((at for at, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), len(first))


def person(index: int) -> Actor:
    role = {"role": ROLES[index]}
    return Actor(actor_type="user", actor_id=str(500 + index), actor_name=NAMES[index], metadata=role)


def group_event(number: int) -> AgentEvent:
    data = {"chat_type": "group", "chat_id": "1", "group": {"id": "1", "name": "Friends"}}
    data["self"] = {"id": "10001", "name": "Parley"}
    return AgentEvent(event_id=f"question-{number}", event_type="message.received", source="onebot11", data=data)


def notes(turn: int) -> MediaElement:
    """Returns a text file, which the Host puts into the prompt."""
    name, artifact_id = f"notes {turn}.txt", f"notes-{turn}"
    return MediaElement(type="file", name=name, mime_type="text/plain", size_bytes=900, artifact_id=artifact_id)


def _media(request: InvokeModel) -> list[int | None]:
    """Returns the limit of the text of each medium in a request; None for one that is given as it is."""
    contents = [each.content for each in request.messages if not isinstance(each.content, str)]
    return [each.text_bytes for content in contents for each in content if isinstance(each, MediaElement)]


def is_summary(request: InvokeModel) -> bool:
    return str(request.messages[0].content).startswith("You keep the memory")


def as_text(request: InvokeModel) -> str:
    return "\n".join(_text(each) for each in request.messages) + "\n"


def _text(message: Message) -> str:
    calls = "".join(f"{call.id} {call.name} {call.arguments}" for call in message.tool_calls or ())
    return f"{message.role}: {message.content}{calls}"


def _tool_every_fourth() -> Answers:
    state = {"asked": 0}

    def answer(request: InvokeModel) -> Any:
        if is_summary(request):
            return reply("People: five friends. Facts: they exchange numbers.", usage=Usage())
        last = request.messages[-1]
        if last.role != "tool":
            state["asked"] += 1
            if state["asked"] % 4 == 0:
                return reply(tool_calls=[tool_call("look_up", {"item": "tea"}, id=f"c{state['asked']}")], usage=Usage())
        return reply("It is the one that they said.", usage=Usage())

    return answer


def _script(*replies: Any) -> Answers:
    rest = iter(replies)
    return lambda request: next(rest)


def _has_no_choice(request: InvokeModel) -> bool:
    return (request.extra or {}).get("tool_choice") == "none"


def _heads_are_unforgeable(talk: Conversation) -> bool:
    lines = [line for request in talk.requests[-3:] for line in as_text(request).splitlines() if line.startswith("[")]
    return bool(lines) and all(
        any(f"{name} #{500 + index} " in line for index, name in enumerate(NAMES)) for line in lines
    )
