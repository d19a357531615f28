"""How many runs go on at once, in all and per person; first come, first served."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from parlour.core.model.event import EventEnvelope


def person_of(envelope: EventEnvelope) -> str:
    """Whose runs are counted together; nobody's for API keys."""
    return "" if envelope.principal else f"{envelope.bot_id}:{envelope.actor.id}"


class Slots:
    def __init__(self, total: int, per_person: int) -> None:
        self._total = total
        self._free = total
        self._per_person = per_person
        self._persons: Counter[str] = Counter()
        self._waiting: deque[tuple[str, asyncio.Future[None]]] = deque()

    async def acquire(self, person: str) -> None:
        """An empty person (an API key) has no limit of its own."""
        if self.take(person):
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((person, future))
        self._hand_out()
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.release(person)
            raise

    def take(self, person: str) -> bool:
        """At once or not at all."""
        if self._waiting or not self._admits(person):
            return False
        self._admit(person)
        return True

    def resize(self, total: int, per_person: int) -> None:
        """From now on. Runs that go on are not touched: fewer slots are reached as they end."""
        self._free += total - self._total
        self._total, self._per_person = total, per_person
        self._hand_out()

    def release(self, person: str) -> None:
        self._free += 1
        if person:
            self._persons[person] -= 1
            if not self._persons[person]:
                del self._persons[person]
        self._hand_out()

    @asynccontextmanager
    async def aside(self, person: str, held: bool) -> AsyncIterator[None]:
        """A run that waits for a person lets others go on meanwhile, if it holds a slot at all."""
        if not held:
            yield
            return
        self.release(person)
        try:
            yield
        finally:
            await self.acquire(person)

    def _admits(self, person: str) -> bool:
        return self._free > 0 and (not person or self._persons[person] < self._per_person)

    def _admit(self, person: str) -> None:
        self._free -= 1
        if person:
            self._persons[person] += 1

    def _hand_out(self) -> None:
        """A person at their limit holds up nobody behind them."""
        kept: deque[tuple[str, asyncio.Future[None]]] = deque()
        while self._waiting and self._free > 0:
            person, future = self._waiting.popleft()
            if future.done():
                continue
            if self._admits(person):
                self._admit(person)
                future.set_result(None)
            else:
                kept.append((person, future))
        self._waiting.extendleft(reversed(kept))
