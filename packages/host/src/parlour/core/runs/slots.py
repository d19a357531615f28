"""Limits how many runs are active at the same time, in total and per person; first come, first served."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from parlour.core.model.event import EventEnvelope


def actor_key(envelope: EventEnvelope) -> str:
    """Returns the key under which a person's runs are counted; empty for API keys, whose runs are not."""
    return "" if envelope.principal else f"{envelope.bot_id}:{envelope.actor.id}"


class RunSlotPool:
    """The slots for runs of this Host."""

    def __init__(self, total: int, per_person: int) -> None:
        self._total = total
        self._free_slots = total
        self._per_person = per_person
        self._active_by_person: Counter[str] = Counter()
        self._waiters: deque[tuple[str, asyncio.Future[None]]] = deque()

    async def acquire(self, person: str) -> None:
        """Waits for a slot. An empty person (an API key) has no limit of its own."""
        if self.try_acquire(person):
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append((person, future))
        self._hand_out()
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.release(person)
            raise

    def try_acquire(self, person: str) -> bool:
        """Acquires a slot if one is free; never waits."""
        if self._waiters or not self._admits(person):
            return False
        self._admit(person)
        return True

    def resize(self, total: int, per_person: int) -> None:
        """Changes the limits. Active runs are not affected: a lower limit is reached as they end."""
        self._free_slots += total - self._total
        self._total, self._per_person = total, per_person
        self._hand_out()

    def release(self, person: str) -> None:
        self._free_slots += 1
        if person:
            self._active_by_person[person] -= 1
            if not self._active_by_person[person]:
                del self._active_by_person[person]
        self._hand_out()

    @asynccontextmanager
    async def yield_slot(self, person: str, holds_slot: bool) -> AsyncIterator[None]:
        """Releases the slot while a run waits for a person, so that others can run; does nothing if the run has
        none.
        """
        if not holds_slot:
            yield
            return
        self.release(person)
        try:
            yield
        finally:
            await self.acquire(person)

    def _admits(self, person: str) -> bool:
        return self._free_slots > 0 and (not person or self._active_by_person[person] < self._per_person)

    def _admit(self, person: str) -> None:
        self._free_slots -= 1
        if person:
            self._active_by_person[person] += 1

    def _hand_out(self) -> None:
        """Gives free slots to waiting runs in order. A person who is at the limit does not block those behind."""
        not_admitted: deque[tuple[str, asyncio.Future[None]]] = deque()
        while self._waiters and self._free_slots > 0:
            person, future = self._waiters.popleft()
            if future.done():
                continue
            if self._admits(person):
                self._admit(person)
                future.set_result(None)
            else:
                not_admitted.append((person, future))
        self._waiters.extendleft(reversed(not_admitted))
