"""Lets a caller wait until an event is settled."""

import asyncio
from collections.abc import Iterable


class Outcomes:
    def __init__(self) -> None:
        self._waiting: dict[int, set[asyncio.Future[None]]] = {}

    def expect(self, event_seq: int) -> asyncio.Future[None]:
        """Done when the event is settled from now on; whoever asks looks first whether it already is."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(event_seq, set())
        waiting.add(future)
        future.add_done_callback(lambda _: self._forget(event_seq, future))
        return future

    def settled(self, event_seqs: Iterable[int]) -> None:
        for seq in event_seqs:
            for future in list(self._waiting.get(seq, ())):
                if not future.done():
                    future.set_result(None)

    def _forget(self, event_seq: int, future: asyncio.Future[None]) -> None:
        waiting = self._waiting.get(event_seq, set())
        waiting.discard(future)
        if not waiting:
            self._waiting.pop(event_seq, None)
