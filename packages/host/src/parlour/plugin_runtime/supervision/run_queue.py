"""Queues runs until a plugin process accepts them, first come first served; each then streams its results."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from parlour.core.model.ports import PluginRefused, PluginUnavailable, ResultStream
from parlour_sdk.wire import ConnectionClosed, WireError


class Places(Protocol):
    """Starts runs while it has free slots."""

    @property
    def free(self) -> bool: ...

    def open(self, request: dict[str, Any]) -> ResultStream:
        """Starts a run. Raises the wire's errors; nothing was started then."""
        ...


class PluginRun:
    """The results of one run, from before there is a process for it."""

    def __init__(self, request: dict[str, Any], patience: float, absent: Callable[[], str]) -> None:
        self._request = request
        self._patience = patience
        self._absent = absent
        self._stream: ResultStream | None = None
        self._failure: BaseException | None = None
        self._settled = asyncio.Event()

    async def batch(self) -> list[Any]:
        while not self._settled.is_set():
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
        if not self._settled.is_set():
            self._failure = error
            self._settled.set()

    def begin(self, runs: Places) -> bool:
        """Starts the run. Returns False if these slots can't accept it any more, and it keeps waiting."""
        if self._settled.is_set():
            return True
        try:
            self._stream = runs.open(self._request)
        except ConnectionClosed:
            return False
        except WireError as error:
            self.fail(PluginRefused(error.code, error.message))
        self._settled.set()
        return True

    async def _wait(self) -> None:
        """Waits for the start.

        The wait for an unavailable plugin is limited; the wait for a slot of an available one lasts until the run is
        aborted.
        """
        try:
            async with asyncio.timeout(self._patience):
                await self._settled.wait()
        except TimeoutError:
            if absence := self._absent():
                self.fail(PluginUnavailable(absence))


class Queue:
    """The runs of one plugin that wait for a slot."""

    def __init__(self) -> None:
        self._runs: deque[PluginRun] = deque()

    def add(self, run: PluginRun) -> None:
        self._runs.append(run)

    def hand_to(self, runs: Places) -> None:
        while self._runs and runs.free and self._runs[0].begin(runs):
            self._runs.popleft()

    def fail(self, reason: str) -> None:
        while self._runs:
            self._runs.popleft().fail(PluginUnavailable(reason))
