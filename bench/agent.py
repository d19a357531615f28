"""Evaluates the local agent: what its model gets and what people see, in recorded conversations.

The model is scripted, so that the figures are the same on every machine; `--model` of `python -m bench agent` asks a
real one in the same conversations, with the key in the variable `BENCH_MODEL_KEY`.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parlour_sdk.agents import token_estimates
from parlour_sdk.protocol.events import Actor, AgentEvent
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import InvokeModel
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.testing import FakeHost, FakeRun, failure, reply, tool_call

from .report import Figure, Target

PLUGIN = Path(__file__).parents[1] / "plugins" / "local-agent"
NAMES = ("Ann", "Bob", "Cy", "Dee", "Eve")
ROLES = ("owner", "admin", "member", "member", "member")
TURNS = 200
BUDGET_TOKENS = 16_000
MARGIN_TOKENS = 1500
"""Tokens of the instructions, the tools and the question, beside the history."""
MIN_REUSE_PERCENT = 85
Model = Callable[[InvokeModel], Any]


@dataclass(slots=True)
class Conversation:
    """One conversation of the evaluation, with every request that the model got."""

    model: Model
    abilities: tuple[str, ...] = ("tools",)
    requests: list[InvokeModel] = field(default_factory=list)
    runs: list[FakeRun] = field(default_factory=list)

    def host(self, **tools: Any) -> FakeHost:
        def answer(request: InvokeModel) -> Any:
            if not is_summary(request):
                self.requests.append(request)
            return self.model(request)

        return FakeHost(models={"m": answer}, tools=tools)

    async def ask(self, host: FakeHost, text: str, actor: Actor | None = None, **config: Any) -> FakeRun:
        given = {"model": {"primary": "m", "fallbacks": []}, "context_tokens": BUDGET_TOKENS, **config}
        event = group_event(len(self.runs)) if actor else None
        run = await host.run(PLUGIN, text, actor=actor, event=event, config=given)
        self.runs.append(run)
        return run

    def reuse_percent(self) -> float:
        """Returns how much of each request is the beginning of the request before, in percent of all characters."""
        texts = [as_text(each) for each in self.requests]
        shared = sum(len(os.path.commonprefix(pair)) for pair in zip(texts, texts[1:], strict=False))
        return 100 * shared / sum(map(len, texts[1:]))

    def largest_tokens(self) -> int:
        return max(token_estimates.estimate_messages(each.messages) for each in self.requests)


async def measure(model: Model | None = None) -> list[Figure]:
    """Runs all conversations; each check counts as passed or failed."""
    talk, answers = await group_talk()
    checks = {**answers, **await failures(), **await overflow()}
    figures = [
        Figure("group talk: turns", TURNS),
        Figure("group talk: prefix reuse", talk.reuse_percent(), "%", Target(MIN_REUSE_PERCENT, "at least")),
        Figure("group talk: largest request", talk.largest_tokens(), "tokens", Target(BUDGET_TOKENS + MARGIN_TOKENS)),
        *(Figure(name, float(passed), "", Target(1, "at least")) for name, passed in checks.items()),
    ]
    return figures if model is None else [*figures, *await with_real_model(model)]


async def group_talk() -> tuple[Conversation, dict[str, bool]]:
    """Five people talk; each says a number that the bot is not asked for, and somebody asks for one of them."""
    talk = Conversation(_tool_every_fourth())
    host = talk.host(look_up=lambda item: f"{item} costs {len(item) * 7}. {'More about it. ' * 60}")
    right = 0
    for turn in range(TURNS):
        for speaker in range(2):
            index = (turn + speaker) % len(NAMES)
            host.say("user", f"my number is {turn}-{index}", person(index), heard=True)
        asked = (turn + 1) % len(NAMES)
        before = len(talk.requests)
        await talk.ask(host, f"what is the number of {NAMES[asked]}?", person((turn + 3) % len(NAMES)), tools=["look_up"])
        request = as_text(talk.requests[before])
        said = f" {NAMES[asked]} #{500 + asked} {ROLES[asked]}] my number is {turn}-{asked}"
        right += said in request and request.count(f"is {turn}-{asked}\n") <= 1
    silent = sum(run.status != "completed" for run in talk.runs)
    return talk, {
        "group talk: the right person's words are in the request": right == TURNS,
        "group talk: every question is answered": silent == 0,
        "group talk: nobody can speak for another": _heads_are_unforgeable(talk),
    }


async def failures() -> dict[str, bool]:
    """A primary that fails, an answer that is cut, and a model that repeats itself."""
    host = FakeHost(models={"m": failure("provider_failed", "secret words"), "second": "I am here."})
    given = {"model": {"primary": "m", "fallbacks": ["second"]}}
    fallback = await host.run(PLUGIN, "hi", config=given)
    cut = Conversation(_script(reply("One", finish_reason="length"), "two."))
    cut_run = await cut.ask(cut.host(), "tell me")
    loop = Conversation(lambda request: "done" if _has_no_choice(request) else reply(tool_calls=[tool_call("clock")]))
    loop_run = await loop.ask(loop.host(clock="noon"), "when?", tools=["clock"])
    return {
        "failures: the fallback answers": fallback.text == "I am here.",
        "failures: a cut answer is continued": cut_run.text == "Onetwo.",
        "failures: repeated calls end": loop_run.text == "done" and len(loop_run.tool_calls) <= 5,
    }


async def overflow() -> dict[str, bool]:
    """A model whose window is smaller than anybody said."""
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


async def with_real_model(model: Model) -> list[Figure]:
    """Asks a real model in a short group talk; the figure is the share of right answers."""
    talk, right = Conversation(model), 0
    host = talk.host()
    for turn in range(5):
        for index in range(len(NAMES)):
            host.say("user", f"my number is {1000 + 100 * turn + index}", person(index), heard=True)
        run = await talk.ask(host, f"what is the latest number of {NAMES[turn]}? Only the number.", person((turn + 1) % 5))
        right += str(1000 + 100 * turn + turn) in run.text
    return [Figure("real model: right answers", 20.0 * right, "%")]


def person(index: int) -> Actor:
    role = {"role": ROLES[index]}
    return Actor(actor_type="user", actor_id=str(500 + index), actor_name=NAMES[index], metadata=role)


def group_event(number: int) -> AgentEvent:
    data = {"chat_type": "group", "chat_id": "1", "group": {"id": "1", "name": "Friends"}}
    data["self"] = {"id": "10001", "name": "Parley"}
    return AgentEvent(event_id=f"question-{number}", event_type="message.received", source="onebot11", data=data)


def is_summary(request: InvokeModel) -> bool:
    return str(request.messages[0].content).startswith("You keep the memory")


def as_text(request: InvokeModel) -> str:
    return "\n".join(_text(each) for each in request.messages) + "\n"


def _text(message: Message) -> str:
    calls = "".join(f"{call.id} {call.name} {call.arguments}" for call in message.tool_calls or ())
    return f"{message.role}: {message.content}{calls}"


def _tool_every_fourth() -> Model:
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


def _script(*replies: Any) -> Model:
    rest = iter(replies)
    return lambda request: next(rest)


def _has_no_choice(request: InvokeModel) -> bool:
    return (request.extra or {}).get("tool_choice") == "none"


def _heads_are_unforgeable(talk: Conversation) -> bool:
    lines = [line for request in talk.requests[-3:] for line in as_text(request).splitlines() if line.startswith("[")]
    return bool(lines) and all(any(f"{name} #{500 + index} " in line for index, name in enumerate(NAMES)) for line in lines)
