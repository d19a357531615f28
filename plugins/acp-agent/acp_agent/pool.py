"""Keeps harnesses that are idle for the next message of their conversation, and ends them in time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from parlour_sdk.api import PluginAPI

from .session import HarnessSession

StartSession = Callable[[], Awaitable[HarnessSession]]


class SessionPool:
    """One session per conversation and agent. A session serves one turn at a time."""

    def __init__(self, api: PluginAPI) -> None:
        self.api = api
        self._idle: dict[str, HarnessSession] = {}
        """Sessions without a turn, least recently used first."""
        self._locks: dict[str, asyncio.Lock] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._ending: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def session(self, key: str, fingerprint: str, start: StartSession) -> AsyncIterator[HarnessSession]:
        """Yields the session of a conversation: a kept one, or a started one. A turn that fails ends its session.

        A kept session of another configuration, which `fingerprint` stands for, is ended first.
        """
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            kept = self._take(key)
            if kept is not None and (kept.ended or kept.fingerprint != fingerprint):
                await kept.close()
                kept = None
            session = kept if kept is not None else await start()
            session.fingerprint = fingerprint
            try:
                yield session
            except BaseException:
                await self._end(session)
                raise
            await self._keep(key, session)

    async def close(self) -> None:
        for key in list(self._idle):
            session = self._take(key)
            if session is not None:
                await session.close()
        if self._ending:
            await asyncio.wait(self._ending)

    def _take(self, key: str) -> HarnessSession | None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()
        return self._idle.pop(key, None)

    async def _keep(self, key: str, session: HarnessSession) -> None:
        if session.ended or session.config.idle_seconds == 0:
            await session.close()
            return
        self._idle[key] = session
        loop = asyncio.get_running_loop()
        self._timers[key] = loop.call_later(session.config.idle_seconds, self._expire, key)
        while len(self._idle) > session.config.at_once:
            self._expire(next(iter(self._idle)))

    def _expire(self, key: str) -> None:
        session = self._take(key)
        if session is not None:
            task = asyncio.create_task(session.close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def _end(self, session: HarnessSession) -> None:
        """Ends a session even if the turn that used it is being cancelled."""
        task = asyncio.create_task(session.close())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        await asyncio.shield(task)


_POOLS: list[SessionPool] = []


def open_pool(api: PluginAPI) -> None:
    """Opens the pool of this process."""
    _POOLS[:] = [SessionPool(api)]


def current_pool() -> SessionPool:
    """Returns the pool of this process."""
    return _POOLS[0]
