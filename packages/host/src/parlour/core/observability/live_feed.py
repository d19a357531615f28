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

from .live_events import derive_live_events

MAX_QUEUED_FRAMES = 1000
"""Frames that may wait for a subscriber; if there are more, it gets one `missed` frame instead."""
MAX_KEPT_FRAMES = 2000
"""Number of frames that are kept for subscribers that reconnect."""
RECONNECT_WINDOW_MILLISECONDS = 120_000
"""Milliseconds for which frames are kept after the last subscriber has disconnected, in case one reconnects."""
STATE_POLL_SECONDS = 0.5
"""Seconds between two polls of states that no unit reports, while there are subscribers."""

Frame = dict[str, Any]
"""One message to a subscriber, as JSON data."""


class ComponentState(NamedTuple):
    """State of a connection or a process."""

    kind: str
    id: str
    state: str

    def frame(self) -> Frame:
        return {"type": self.kind, "id": self.id, "state": self.state}


ComponentStates = Callable[[], Iterable[ComponentState]]
"""Returns the current states of connections and processes."""


class LiveSubscriber:
    """The queue of frames of one subscriber."""

    def __init__(self, missed: Iterable[Frame]) -> None:
        self._frames: deque[Frame] = deque(missed)
        self._has_frames = asyncio.Event()
        self._has_frames.set()

    def put(self, frame: Frame) -> None:
        if len(self._frames) >= MAX_QUEUED_FRAMES:
            self._frames.clear()
            frame = {"type": "missed", "seq": frame["seq"]}
        self._frames.append(frame)
        self._has_frames.set()

    async def receive(self) -> list[Frame]:
        """Waits for frames and returns all that are queued, possibly none."""
        await self._has_frames.wait()
        self._has_frames.clear()
        frames = list(self._frames)
        self._frames.clear()
        return frames


class LiveFeed:
    """Distributes live events. It does no work while there are no subscribers and none is expected to reconnect."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._subscribers: set[LiveSubscriber] = set()
        self._has_subscribers = asyncio.Event()
        self._frames: deque[Frame] = deque(maxlen=MAX_KEPT_FRAMES)
        self._frames_since = 0
        """Frames with a larger number than this are kept."""
        self._keep_frames_until = 0
        self._seq = 0
        self._states: ComponentStates = tuple
        self._published_states: dict[tuple[str, str], ComponentState] = {}

    async def serve(self, states: ComponentStates) -> None:
        """Polls the states of connections and processes while there are subscribers, until it is cancelled."""
        self._states = states
        while True:
            await self._has_subscribers.wait()
            self._publish_states()
            await asyncio.sleep(STATE_POLL_SECONDS)

    @contextmanager
    def subscribe(self, after: int | None = None) -> Iterator[LiveSubscriber]:
        """Subscribes while the context is open, to new frames or to all after the number `after`.

        The frames that were missed come first, then the current states.
        """
        if not self._keeps_frames():
            self._frames.clear()
            self._frames_since = self._next_seq()
            self._published_states = {}
        self._publish_states()
        subscriber = LiveSubscriber(
            [self._with_last_seq({"type": "connected"}), *self._missed_frames(after), *self._current_states()]
        )
        self._subscribers.add(subscriber)
        self._has_subscribers.set()
        try:
            yield subscriber
        finally:
            self._subscribers.discard(subscriber)
            if not self._subscribers:
                self._has_subscribers.clear()
                self._keep_frames_until = self._clock.now() + RECONNECT_WINDOW_MILLISECONDS

    def on_commit(self, unit: Unit) -> None:
        """Publishes the live events of a committed unit. It is an observer of the journal."""
        if not self._keeps_frames():
            return
        for live_event in derive_live_events(unit):
            public_values = {
                name: value for name, value in live_event.public_values.items() if isinstance(value, str | int)
            }
            self._publish({**public_values, "type": live_event.kind, "id": live_event.id, "state": live_event.state})

    def _keeps_frames(self) -> bool:
        return bool(self._subscribers) or (self._keep_frames_until > 0 and self._clock.now() < self._keep_frames_until)

    def _missed_frames(self, after: int | None) -> list[Frame]:
        if after is None:
            return []
        oldest = self._frames[0]["seq"] - 1 if len(self._frames) == MAX_KEPT_FRAMES else self._frames_since
        if not oldest <= after <= self._seq:
            return [self._with_last_seq({"type": "missed"})]
        return [frame for frame in self._frames if frame["seq"] > after]

    def _current_states(self) -> list[Frame]:
        return [self._with_last_seq(state.frame()) for state in self._published_states.values()]

    def _publish_states(self) -> None:
        """Publishes the states that have changed since the last call."""
        now = {(state.kind, state.id): state for state in self._states()}
        removed = [state._replace(state="gone") for key, state in self._published_states.items() if key not in now]
        for state in [*removed, *(state for key, state in now.items() if self._published_states.get(key) != state)]:
            self._publish(state.frame())
        self._published_states = now

    def _publish(self, fields: Mapping[str, Any]) -> None:
        frame = {**fields, "seq": self._next_seq()}
        self._frames.append(frame)
        for subscriber in self._subscribers:
            subscriber.put(frame)

    def _with_last_seq(self, frame: Frame) -> Frame:
        """Adds the number of the last published frame, for a frame that is sent to one subscriber only."""
        return {**frame, "seq": self._seq}

    def _next_seq(self) -> int:
        """Returns the next frame number. Numbers keep growing after a restart, so that older ones are recognized."""
        self._seq = max(self._seq + 1, self._clock.now() * 1000)
        return self._seq
