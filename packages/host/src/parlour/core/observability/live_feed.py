"""Whoever watches live gets what happens as it happens, numbered. Nothing is lost without a word.

Whoever comes back after a cut names the last number it saw and gets what it missed. A watcher that falls behind, or
that comes back after more than is kept, is told that it `missed` something, and reads again what it shows.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from parlour.core.journal import Unit
from parlour.core.model.ports import Clock

from .live_events import happenings

QUEUED = 1000
KEPT = 2000
KEPT_MILLISECONDS = 120_000
"""How long frames are kept for somebody to come back, after nobody watches any more."""
LOOKED_EVERY = 0.5
"""How often states are looked at that no unit tells of, while somebody watches."""

Frame = dict[str, Any]


class State(NamedTuple):
    """How a connection or a process is doing."""

    kind: str
    id: str
    state: str

    def frame(self) -> Frame:
        return {"type": self.kind, "id": self.id, "state": self.state}


States = Callable[[], Iterable[State]]


class Watcher:
    def __init__(self, missed: Iterable[Frame]) -> None:
        self._frames: deque[Frame] = deque(missed)
        self._arrived = asyncio.Event()
        self._arrived.set()

    def put(self, frame: Frame) -> None:
        if len(self._frames) >= QUEUED:
            self._frames.clear()
            frame = {"type": "missed", "seq": frame["seq"]}
        self._frames.append(frame)
        self._arrived.set()

    async def take(self) -> list[Frame]:
        """All that is there, perhaps nothing."""
        await self._arrived.wait()
        self._arrived.clear()
        frames = list(self._frames)
        self._frames.clear()
        return frames


class Board:
    """Costs nothing while nobody watches and nobody is expected back."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._watchers: set[Watcher] = set()
        self._watched = asyncio.Event()
        self._kept: deque[Frame] = deque(maxlen=KEPT)
        self._kept_since = 0
        """What was told after this number is kept."""
        self._kept_until = 0
        self._seq = 0
        self._states: States = tuple
        self._told: dict[tuple[str, str], State] = {}

    async def serve(self, states: States) -> None:
        """Looks at how connections and processes are doing, for as long as the Host runs."""
        self._states = states
        while True:
            await self._watched.wait()
            self._tell_states()
            await asyncio.sleep(LOOKED_EVERY)

    @contextmanager
    def watching(self, after: int | None = None) -> Iterator[Watcher]:
        """From now on, or from what came after this number on; how things are at this moment comes first."""
        if not self._is_kept():
            self._kept.clear()
            self._kept_since = self._stamp()
            self._told = {}
        self._tell_states()
        watcher = Watcher([self._numbered({"type": "connected"}), *self._missed(after), *self._present()])
        self._watchers.add(watcher)
        self._watched.set()
        try:
            yield watcher
        finally:
            self._watchers.discard(watcher)
            if not self._watchers:
                self._watched.clear()
                self._kept_until = self._clock.now() + KEPT_MILLISECONDS

    def look(self, unit: Unit) -> None:
        """An observer of the journal."""
        if not self._is_kept():
            return
        for happening in happenings(unit):
            facts = {name: value for name, value in happening.facts.items() if isinstance(value, str | int)}
            self._tell({**facts, "type": happening.kind, "id": happening.id, "state": happening.state})

    def _is_kept(self) -> bool:
        return bool(self._watchers) or (self._kept_until > 0 and self._clock.now() < self._kept_until)

    def _missed(self, after: int | None) -> list[Frame]:
        if after is None:
            return []
        oldest = self._kept[0]["seq"] - 1 if len(self._kept) == KEPT else self._kept_since
        if not oldest <= after <= self._seq:
            return [self._numbered({"type": "missed"})]
        return [frame for frame in self._kept if frame["seq"] > after]

    def _present(self) -> list[Frame]:
        return [self._numbered(state.frame()) for state in self._told.values()]

    def _tell_states(self) -> None:
        """Those that are others than they were."""
        now = {(state.kind, state.id): state for state in self._states()}
        gone = [state._replace(state="gone") for key, state in self._told.items() if key not in now]
        for state in [*gone, *(state for key, state in now.items() if self._told.get(key) != state)]:
            self._tell(state.frame())
        self._told = now

    def _tell(self, told: Mapping[str, Any]) -> None:
        frame = {**told, "seq": self._stamp()}
        self._kept.append(frame)
        for watcher in self._watchers:
            watcher.put(frame)

    def _numbered(self, told: Frame) -> Frame:
        """With the number of the last that was told: whoever saw this has seen that."""
        return {**told, "seq": self._seq}

    def _stamp(self) -> int:
        """Numbers go on growing after a restart, so that those of an earlier life are known as such."""
        self._seq = max(self._seq + 1, self._clock.now() * 1000)
        return self._seq
