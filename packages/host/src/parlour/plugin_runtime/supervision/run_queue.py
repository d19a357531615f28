"""Queues runs until a plugin process accepts them, first come first served; each then streams its results."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from parlour.core.model.ports import PluginCallFailed, PluginUnavailable, ResultStream
from parlour_sdk.wire import ConnectionClosed, WireError


class RunSlots(Protocol):
    """Starts runs while it has free slots."""

    @property
    def has_free_slot(self) -> bool: ...

    def open(self, request: dict[str, Any]) -> ResultStream:
        """Starts a run. Raises the wire's errors; nothing was started then."""
        ...


class PluginRun:
    """The results of one run, from before there is a process for it."""

    def __init__(self, request: dict[str, Any], timeout: float, absent: Callable[[], str]) -> None:
        self._request = request
        self._start_timeout = timeout
        self._unavailable_reason = absent
        self._stream: ResultStream | None = None
        self._failure: BaseException | None = None
        self._started_or_failed = asyncio.Event()

    async def batch(self) -> list[Any]:
        while not self._started_or_failed.is_set():
            await self._wait()
        if self._failure is not None:
            raise self._failure
        assert self._stream is not None
        return await self._stream.batch()

    def abort(self, error: BaseException) -> None:
        if self._stream is not None:
            self._stream.abort(error)
        else:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """Fails the run unless it has started or failed already."""
        if not self._started_or_failed.is_set():
            self._failure = error
            self._started_or_failed.set()

    def start(self, runs: RunSlots) -> bool:
        """Starts the run. Returns False if these slots can't accept it any more, and it keeps waiting."""
        if self._started_or_failed.is_set():
            return True
        try:
            self._stream = runs.open(self._request)
        except ConnectionClosed:
            return False
        except WireError as error:
            self.fail(PluginCallFailed(error.code, error.message))
        self._started_or_failed.set()
        return True

    async def _wait(self) -> None:
        """Waits for the start.

        The wait for an unavailable plugin is limited; the wait for a slot of an available one lasts until the run is
        aborted.
        """
        try:
            async with asyncio.timeout(self._start_timeout):
                await self._started_or_failed.wait()
        except TimeoutError:
            if absence := self._unavailable_reason():
                self.fail(PluginUnavailable(absence))


class PluginRunQueue:
    """The runs of one plugin that wait for a slot."""

    def __init__(self) -> None:
        self._runs: deque[PluginRun] = deque()

    def add(self, run: PluginRun) -> None:
        self._runs.append(run)

    def start_runs(self, runs: RunSlots) -> None:
        while self._runs and runs.has_free_slot and self._runs[0].start(runs):
            self._runs.popleft()

    def fail(self, reason: str) -> None:
        while self._runs:
            self._runs.popleft().fail(PluginUnavailable(reason))
