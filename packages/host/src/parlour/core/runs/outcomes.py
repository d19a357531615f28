"""Lets a caller wait until an event is settled."""

import asyncio
from collections.abc import Iterable

from parlour.core.store.inbox import Settled


class Outcomes:
    def __init__(self) -> None:
        self._waiting: dict[int, set[asyncio.Future[Settled]]] = {}

    def expect(self, event_seq: int) -> "asyncio.Future[Settled]":
        """Done when the event is settled from now on; whoever asks looks whether it already is."""
        future: asyncio.Future[Settled] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(event_seq, set()).add(future)
        future.add_done_callback(lambda _: self._forget(event_seq, future))
        return future

    def settled(self, events: Iterable[Settled]) -> None:
        for settled in events:
            for future in list(self._waiting.get(settled.event_seq, ())):
                if not future.done():
                    future.set_result(settled)

    def _forget(self, event_seq: int, future: "asyncio.Future[Settled]") -> None:
        waiting = self._waiting.get(event_seq, set())
        waiting.discard(future)
        if not waiting:
            self._waiting.pop(event_seq, None)
