"""Whoever watches live gets what happens as it happens. A watcher that falls behind is told so and starts over."""

import asyncio
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from parlour.core.journal import Unit

from .happenings import happenings

QUEUED = 1000

Frame = dict[str, Any]


class Watcher:
    def __init__(self) -> None:
        self._frames: deque[Frame] = deque()
        self._arrived = asyncio.Event()

    def put(self, frame: Frame) -> None:
        if len(self._frames) >= QUEUED:
            self._frames.clear()
            frame = {"type": "missed"}
        self._frames.append(frame)
        self._arrived.set()

    async def take(self) -> list[Frame]:
        """All that is there, at least one."""
        await self._arrived.wait()
        self._arrived.clear()
        frames = list(self._frames)
        self._frames.clear()
        return frames


class Board:
    def __init__(self) -> None:
        self._watchers: set[Watcher] = set()

    @contextmanager
    def watching(self) -> Iterator[Watcher]:
        watcher = Watcher()
        self._watchers.add(watcher)
        try:
            yield watcher
        finally:
            self._watchers.discard(watcher)

    def look(self, unit: Unit) -> None:
        """An observer of the journal; costs nothing while nobody watches."""
        if not self._watchers:
            return
        for happening in happenings(unit):
            facts = {name: value for name, value in happening.facts.items() if isinstance(value, str | int)}
            self.tell(happening.kind, happening.id, happening.state, facts)

    def tell(self, kind: str, name: str, state: str, facts: Mapping[str, Any]) -> None:
        """What no unit tells: how connections and plugins are doing."""
        for watcher in self._watchers:
            watcher.put({**facts, "type": kind, "id": name, "state": state})
