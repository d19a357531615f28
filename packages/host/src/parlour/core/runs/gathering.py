"""Collects messages that are sent in quick succession, so that one run answers them together.

The lane waits behind the first message without a slot. The wait follows from the times at which the messages were
accepted, so it goes on after a restart; the messages themselves are stored and pending as ever.
"""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from parlour.core.message_policy.wake import MESSAGE_TYPE
from parlour.core.model.agent import Binding
from parlour.core.model.ports import Clock
from parlour.core.routing.decisions import Drop, ToAgent
from parlour.core.routing.filters import mentions_bot
from parlour.core.routing.router import Router
from parlour_sdk.values import dataclass

from .lane_result import LaneResult
from .session import QueuedEvent

if TYPE_CHECKING:
    from parlour.core.message_policy.schema import Gather


@dataclass(frozen=True, slots=True)
class LimitSuspension:
    """Suspends a message until a limit has room for it."""

    entry: QueuedEvent
    until: int
    clock: Clock

    async def wait_ready(self) -> None:
        await asyncio.sleep(max(0, self.until - self.clock.now()) / 1000)

    async def finish(self) -> LaneResult:
        return LaneResult([self.entry])


class Gathering:
    """Finds the messages that are collected with another one, and waits for them."""

    def __init__(self, router: Router, clock: Clock) -> None:
        self._router = router
        self._clock = clock

    def suspend(self, entry: QueuedEvent, binding: Binding, rules: "Gather") -> "GatherSuspension | None":
        """Returns the suspension while further messages may come; None if the run may start."""
        if entry.gathering_ended or entry.was_admitted or entry.queue is None:
            return None
        suspension = GatherSuspension(self, entry, binding, rules)
        return None if suspension.remaining() <= 0 else suspension

    def followers(self, entry: QueuedEvent, binding: Binding, rules: "Gather") -> list[QueuedEvent]:
        """Returns the waiting messages that are answered together with this one."""
        return list(self._matching(entry, binding, rules))[: rules.messages - 1]

    def is_interrupted(self, entry: QueuedEvent, binding: Binding, rules: "Gather") -> bool:
        """Returns whether an event waits that must not be delayed: of another kind, or of another sender who calls."""
        queue = entry.queue
        if queue is None:
            return True
        matching = {each.seq for each in self._matching(entry, binding, rules)}
        return any(self._interrupts(each, entry) for each in queue.waiting if each.seq not in matching)

    def now(self) -> int:
        return self._clock.now()

    def _interrupts(self, waiting: QueuedEvent, entry: QueuedEvent) -> bool:
        envelope = waiting.event.envelope
        if isinstance(self._router.decide(envelope), Drop):
            return False
        return envelope.event_type != MESSAGE_TYPE or mentions_bot(envelope) or not envelope.data.get("chat_type")

    def _matching(self, entry: QueuedEvent, binding: Binding, rules: "Gather") -> Iterator[QueuedEvent]:
        """Yields the messages behind this one that belong to it, up to the first that has to be answered alone."""
        for each in entry.queue.waiting if entry.queue is not None else ():
            decision = self._router.decide(each.event.envelope)
            if isinstance(decision, Drop):
                continue
            if not self._belongs(each, entry, binding, rules, decision):
                return
            yield each

    def _belongs(
        self, each: QueuedEvent, entry: QueuedEvent, binding: Binding, rules: "Gather", decision: object
    ) -> bool:
        envelope, first = each.event.envelope, entry.event.envelope
        same_sender = (envelope.actor.type, envelope.actor.id) == (first.actor.type, first.actor.id)
        return (
            envelope.event_type == MESSAGE_TYPE
            and not each.run_id
            and envelope.run_request is None
            and (same_sender or rules.per == "chat")
            and isinstance(decision, ToAgent)
            and decision.binding.agent.agent_id == binding.agent.agent_id
        )


class GatherSuspension:
    """Suspends a message until its sender has been silent for long enough."""

    def __init__(self, gathering: Gathering, entry: QueuedEvent, binding: Binding, rules: "Gather") -> None:
        self._gathering = gathering
        self._entry = entry
        self._binding = binding
        self._rules = rules

    def remaining(self) -> float:
        """Returns the seconds until the run starts; 0 or less if it starts now."""
        entry, rules = self._entry, self._rules
        followers = self._gathering.followers(entry, self._binding, rules)
        is_full = len(followers) >= rules.messages - 1
        if is_full or self._gathering.is_interrupted(entry, self._binding, rules):
            return 0
        newest = max(each.event.created_at for each in (entry, *followers))
        ends_at = min(newest + rules.seconds * 1000, entry.event.created_at + rules.longest * 1000)
        return (ends_at - self._gathering.now()) / 1000

    async def wait_ready(self) -> None:
        queue = self._entry.queue
        while queue is not None and (seconds := self.remaining()) > 0:
            try:
                async with asyncio.timeout(seconds):
                    await queue.wait_changed()
            except TimeoutError:
                continue

    async def finish(self) -> LaneResult:
        self._entry.gathering_ended = True
        return LaneResult([self._entry])
