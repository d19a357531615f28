"""Measures what a message policy costs: the same messages to an agent without one and to an agent with all checkpoints.

The two take turns, so that other load of the machine affects both equally.
"""

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from parlour.core.message_policy.schema import MessagePolicy
from parlour.core.message_policy.wake import find_silence
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.core.model.ids import AgentId, EventId
from parlour.core.model.regex_budget import RegexMatcher

from .clients import HttpLane
from .host import ECHO, Host, Meter, install, running
from .load import Load
from .messages import Books
from .report import Figure, Target
from .samples import percentile

CONVERSATIONS = 20
EXPRESSIONS = 50
MOST_CPU_MS = 0.3
MOST_WAKE_MS = 1.0
WORDS = [f"forbidden{number}" for number in range(200)]
RULE = {"use": "words", "config": {"words": WORDS}}
POLICY: dict[str, Any] = {
    "wake": {"ignore": {"prefixes": ["#"], "regexes": ["^ignored \\d+"]}, "access": {"entries": ["user:banned"]}},
    "limits": [
        {"per": "sender", "count": 1_000_000, "window": "day"},
        {"per": "chat", "count": 1_000_000, "seconds": 3600, "kind": "sliding"},
    ],
    "filters": {"input": [{**RULE, "on": "mask"}], "output": [{**RULE, "on": "mask"}]},
    "context": {"quote": "ignore"},
    "long_text": {"over": 5000, "as": "file"},
}
"""Every checkpoint but those that wait: collecting messages, and delays."""


@dataclass(frozen=True, slots=True)
class Size:
    pairs: int
    slice_seconds: float
    decisions: int


FULL = Size(pairs=10, slice_seconds=2.5, decisions=5000)
QUICK = Size(pairs=3, slice_seconds=1.5, decisions=1000)


@dataclass(slots=True)
class Side:
    """One of the two agents, with its clients."""

    clients: list[HttpLane]
    load: Load = field(default_factory=Load)
    cpu_ms: list[float] = field(default_factory=list)
    """CPU of the Host per message, per slice."""

    async def run(self, seconds: float, meter: Meter) -> None:
        messages = self.load.messages
        await self.load.run(self.clients, seconds, meter)
        self.cpu_ms.append(1000 * self.load.costs[-1].host / (self.load.messages - messages))


async def measure(folder: Path, size: Size) -> list[Figure]:
    data, books = folder / "policies", Books()
    key = install(data)
    with running(data, key) as host:
        plain = await _side(host, books, "plain", {})
        ruled = await _side(host, books, "ruled", POLICY)
        meter = Meter(host)
        for side in (plain, ruled):
            await side.load.run(side.clients, size.slice_seconds, None)
            side.load = Load()
        for number in range(size.pairs):
            for side in (plain, ruled) if number % 2 else (ruled, plain):
                await side.run(size.slice_seconds, meter)
        for client in (*plain.clients, *ruled.clients):
            await client.close()
    more = [with_policy - without for without, with_policy in zip(plain.cpu_ms, ruled.cpu_ms, strict=True)]
    note = f"{min(more):.2f} to {max(more):.2f} over {len(more)} pairs"
    return [
        Figure("without a policy: CPU Host", median(plain.cpu_ms), "ms/msg"),
        Figure("with all checkpoints: CPU Host", median(ruled.cpu_ms), "ms/msg"),
        Figure("what the policy adds: CPU Host", median(more), "ms/msg", Target(MOST_CPU_MS), note),
        *_wake(size.decisions),
        Figure("lost or mismatched", len(books.wrong) + books.lost, "", Target(0), "; ".join(books.wrong[:3])),
    ]


async def _side(host: Host, books: Books, name: str, policy: dict[str, Any]) -> Side:
    runner = {"runner_id": f"plugin:parlour/{ECHO}/default", "runner_config": {}}
    body = {"name": name, "message_policy": policy, **runner}
    agent_id = str(host.request("POST", "/api/v1/agents", body)["agent_id"])
    lanes = [HttpLane(host, agent_id, f"{name}-{number}", books) for number in range(CONVERSATIONS)]
    return Side(list(await asyncio.gather(*(lane.open(host.port) for lane in lanes))))


def _wake(decisions: int) -> list[Figure]:
    """Measures the decision about a message of a group with fifty expressions, none of which matches."""
    expressions = [f"^(please|kindly) +(answer|reply) +{number} times" for number in range(EXPRESSIONS)]
    policy = MessagePolicy.model_validate({"wake": {"groups": {"mention": False, "regexes": expressions}}})
    seconds: list[float] = []
    for number in range(decisions):
        event = _group_message(number)
        started = time.perf_counter()
        find_silence(policy, event, AgentId("agent"), RegexMatcher())
        seconds.append(time.perf_counter() - started)
    p95 = 1000 * percentile(seconds, 95)
    title = f"wake with {EXPRESSIONS} expressions: p95"
    return [Figure(title, p95, "ms", Target(MOST_WAKE_MS), f"p50 {1000 * percentile(seconds, 50):.2f}")]


def _group_message(number: int) -> EventEnvelope:
    event_id = EventId(f"e{number}")
    return EventEnvelope(
        event_id=event_id,
        event_type="message.received",
        source="bench",
        chat="group",
        context=EventContext(event_id),
        surface="platform",
        actor=Participant("user", "ann"),
        input={"text": f"a message of a group with some words, number {number}"},
        data={"chat_type": "group", "chat_id": "1"},
    )
