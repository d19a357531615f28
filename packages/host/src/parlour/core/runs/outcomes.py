"""Lets callers wait for the outcome of an event."""

import asyncio
from collections.abc import Iterable

from parlour.core.store.inbox import InboxOutcome


class Outcomes:
    """The futures of callers that wait for outcomes."""

    def __init__(self) -> None:
        self._futures: dict[int, set[asyncio.Future[InboxOutcome]]] = {}

    def wait_for(self, event_seq: int) -> "asyncio.Future[InboxOutcome]":
        """Returns a future for the next outcome of the event. The caller checks whether the event already has one."""
        future: asyncio.Future[InboxOutcome] = asyncio.get_running_loop().create_future()
        self._futures.setdefault(event_seq, set()).add(future)
        future.add_done_callback(lambda _: self._forget(event_seq, future))
        return future

    def awaited_events(self) -> list[int]:
        """Returns the numbers of the events whose outcome is awaited."""
        return list(self._futures)

    def publish(self, events: Iterable[InboxOutcome]) -> None:
        """Resolves the futures of these events."""
        for outcome in events:
            for future in list(self._futures.get(outcome.event_seq, ())):
                if not future.done():
                    future.set_result(outcome)

    def _forget(self, event_seq: int, future: "asyncio.Future[InboxOutcome]") -> None:
        futures = self._futures.get(event_seq, set())
        futures.discard(future)
        if not futures:
            self._futures.pop(event_seq, None)
