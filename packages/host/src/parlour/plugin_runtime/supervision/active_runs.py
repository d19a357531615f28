"""Tracks the runs of one plugin process: how many more it accepts, and which continue after their cancellation."""

import asyncio
from functools import partial
from typing import Any, Protocol

from parlour_sdk.values import dataclass
from parlour_sdk.wire import Peer, WireError

from .connection import PluginStream, await_answer, to_plugin_error


@dataclass(slots=True, eq=False)
class _Run:
    """One run. It is healthy until it is cancelled; then it has some time to end before it counts as stuck."""

    uses_slot: bool = True
    cancel_timer: asyncio.TimerHandle | None = None
    cancelled: bool = False
    ignores_cancel: bool = False


class RunOwner(Protocol):
    """Reacts to the ends of runs in a process."""

    def on_run_ended(self) -> None: ...

    def on_run_stuck(self, runs: "ActivePluginRuns") -> None:
        """Reacts to a run that continues after its cancellation."""
        ...


class ActivePluginRuns:
    """Starts runs and calls. A slot is free again when the plugin itself has finished a run, not when the Host has."""

    def __init__(self, peer: Peer, limit: int, ignored_cancel_seconds: float, owner: RunOwner) -> None:
        self.peer = peer
        self._owner = owner
        self._slots = limit
        self._ignored_cancel_seconds = ignored_cancel_seconds
        self._all: set[_Run] = set()
        self._used_slots = 0
        self._healthy = 0
        self._calls = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def has_free_slot(self) -> bool:
        return self._used_slots < self._slots

    @property
    def healthy_count(self) -> int:
        return self._healthy

    @property
    def stuck_count(self) -> int:
        return sum(run.ignores_cancel for run in self._all)

    async def wait_until_idle(self) -> None:
        """Returns when no calls and no runs are left, except for cancelled ones."""
        await self._idle.wait()

    def open(self, request: dict[str, Any]) -> PluginStream:
        """Starts a run. Raises the wire's errors; nothing was started then."""
        return self._begin("run_agent", request, _Run())

    def stream(self, action: str, data: dict[str, Any]) -> PluginStream:
        """Starts a stream that needs no slot: it is short, and may be needed just because the plugin is busy."""
        try:
            return self._begin(action, data, _Run(uses_slot=False))
        except WireError as error:
            raise to_plugin_error(error) from error

    async def call(self, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        self._calls += 1
        self._idle.clear()
        try:
            return await await_answer(self.peer.call(action, data, timeout))
        finally:
            self._calls -= 1
            self._update_idle()

    def _begin(self, action: str, data: dict[str, Any], run: _Run) -> PluginStream:
        stream = self.peer.stream(action, data, partial(self._on_ended, run))
        self._all.add(run)
        self._used_slots += run.uses_slot
        self._healthy += 1
        self._idle.clear()
        return PluginStream(stream, partial(self._on_cancelled, run))

    def _on_cancelled(self, run: _Run) -> None:
        if run.cancelled or run not in self._all:
            return
        run.cancelled = True
        self._remove_healthy()
        loop = asyncio.get_running_loop()
        run.cancel_timer = loop.call_later(self._ignored_cancel_seconds, self._on_cancel_timeout, run)

    def _on_cancel_timeout(self, run: _Run) -> None:
        run.ignores_cancel = True
        self._owner.on_run_stuck(self)

    def _on_ended(self, run: _Run) -> None:
        self._all.discard(run)
        self._used_slots -= run.uses_slot
        if run.cancel_timer is not None:
            run.cancel_timer.cancel()
        if not run.cancelled:
            self._remove_healthy()
        self._owner.on_run_ended()

    def _remove_healthy(self) -> None:
        self._healthy -= 1
        self._update_idle()

    def _update_idle(self) -> None:
        if self._healthy == self._calls == 0:
            self._idle.set()
