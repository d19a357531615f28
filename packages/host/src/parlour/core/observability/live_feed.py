"""Publishes live events to subscribers as numbered frames.

A subscriber that reconnects names the last number it saw and gets the frames that it missed. A subscriber that falls
behind, or that reconnects after more frames than are kept, gets a `missed` frame and must reload the data it shows.
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
"""Frames that may wait for a subscriber; if there are more, it gets one `missed` frame instead."""
KEPT = 2000
"""Number of frames that are kept for subscribers that reconnect."""
KEPT_MILLISECONDS = 120_000
"""Milliseconds for which frames are kept after the last subscriber has disconnected, in case one reconnects."""
LOOKED_EVERY = 0.5
"""Seconds between two polls of states that no unit reports, while there are subscribers."""

Frame = dict[str, Any]
"""One message to a subscriber, as JSON data."""


class State(NamedTuple):
    """State of a connection or a process."""

    kind: str
    id: str
    state: str

    def frame(self) -> Frame:
        return {"type": self.kind, "id": self.id, "state": self.state}


States = Callable[[], Iterable[State]]
"""Returns the current states of connections and processes."""


class Watcher:
    """The queue of frames of one subscriber."""

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
        """Waits for frames and returns all that are queued, possibly none."""
        await self._arrived.wait()
        self._arrived.clear()
        frames = list(self._frames)
        self._frames.clear()
        return frames


class Board:
    """Distributes live events. It does no work while there are no subscribers and none is expected to reconnect."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._watchers: set[Watcher] = set()
        self._watched = asyncio.Event()
        self._kept: deque[Frame] = deque(maxlen=KEPT)
        self._kept_since = 0
        """Frames with a larger number than this are kept."""
        self._kept_until = 0
        self._seq = 0
        self._states: States = tuple
        self._told: dict[tuple[str, str], State] = {}

    async def serve(self, states: States) -> None:
        """Polls the states of connections and processes while there are subscribers, until it is cancelled."""
        self._states = states
        while True:
            await self._watched.wait()
            self._tell_states()
            await asyncio.sleep(LOOKED_EVERY)

    @contextmanager
    def watching(self, after: int | None = None) -> Iterator[Watcher]:
        """Subscribes while the context is open, to new frames or to all after the number `after`.

        The frames that were missed come first, then the current states.
        """
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
        """Publishes the live events of a committed unit. It is an observer of the journal."""
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
        """Publishes the states that have changed since the last call."""
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
        """Adds the number of the last published frame, for a frame that is sent to one subscriber only."""
        return {**told, "seq": self._seq}

    def _stamp(self) -> int:
        """Returns the next frame number. Numbers keep growing after a restart, so that older ones are recognized."""
        self._seq = max(self._seq + 1, self._clock.now() * 1000)
        return self._seq
