"""Tracks the runs of one plugin process: how many more it accepts, and which continue after their cancellation."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from parlour_sdk.values import dataclass
from parlour_sdk.wire import Peer, WireError

from .connection import PluginStream, answered, told


@dataclass(slots=True, eq=False)
class _Run:
    """One run. It is healthy until it is cancelled; then it has some time to end before it counts as stuck."""

    takes_a_place: bool = True
    patience: asyncio.TimerHandle | None = None
    cancelled: bool = False
    deaf: bool = False


class Runs:
    """Starts runs and calls. A slot is free again when the plugin itself has finished a run, not when the Host has."""

    def __init__(self, peer: Peer, places: int, ignored_cancel_seconds: float) -> None:
        self._peer = peer
        self._places = places
        self._ignored_cancel_seconds = ignored_cancel_seconds
        self._all: set[_Run] = set()
        self._taken = 0
        self._healthy = 0
        self._calls = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self.on_free: Callable[[], None] = _nobody
        self.on_deaf: Callable[[], None] = _nobody

    @property
    def free(self) -> bool:
        return self._taken < self._places

    @property
    def healthy(self) -> int:
        return self._healthy

    @property
    def deaf(self) -> int:
        return sum(run.deaf for run in self._all)

    async def quiet(self) -> None:
        """Returns when no calls and no runs are left, except for cancelled ones."""
        await self._quiet.wait()

    def open(self, request: dict[str, Any]) -> PluginStream:
        """Starts a run. Raises the wire's errors; nothing was started then."""
        return self._begin("run_agent", request, _Run())

    def stream(self, action: str, data: dict[str, Any]) -> PluginStream:
        """Starts a stream that needs no slot: it is short, and may be needed just because the plugin is busy."""
        try:
            return self._begin(action, data, _Run(takes_a_place=False))
        except WireError as error:
            raise told(error) from error

    async def call(self, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        self._calls += 1
        self._quiet.clear()
        try:
            return await answered(self._peer.call(action, data, timeout))
        finally:
            self._calls -= 1
            self._look()

    def _begin(self, action: str, data: dict[str, Any], run: _Run) -> PluginStream:
        stream = self._peer.stream(action, data, partial(self._ended, run))
        self._all.add(run)
        self._taken += run.takes_a_place
        self._healthy += 1
        self._quiet.clear()
        return PluginStream(stream, partial(self._cancelled, run))

    def _cancelled(self, run: _Run) -> None:
        if run.cancelled or run not in self._all:
            return
        run.cancelled = True
        self._settle()
        loop = asyncio.get_running_loop()
        run.patience = loop.call_later(self._ignored_cancel_seconds, self._found_deaf, run)

    def _found_deaf(self, run: _Run) -> None:
        run.deaf = True
        self.on_deaf()

    def _ended(self, run: _Run) -> None:
        self._all.discard(run)
        self._taken -= run.takes_a_place
        if run.patience is not None:
            run.patience.cancel()
        if not run.cancelled:
            self._settle()
        self.on_free()

    def _settle(self) -> None:
        self._healthy -= 1
        self._look()

    def _look(self) -> None:
        if self._healthy == self._calls == 0:
            self._quiet.set()


def _nobody() -> None: ...
