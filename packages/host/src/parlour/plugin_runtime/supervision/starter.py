"""Starts a plugin's process and waits until it can be called, or reports why it can't. Makes one attempt."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from parlour_sdk.wire import Peer

from ..process.launcher import Launcher, LaunchRefused, Start
from ..process.log_buffer import LogBuffer
from ..process.reaper import Guardian
from ..store import Installed
from .connection import HostActions, PluginDispatcher
from .instance import Life
from .policy import Policy
from .resources import Measure, folder_use
from .wait_helpers import first_of

_TURNS_IN_A_START = 3
"""A start holds its slot for one part in this many of `start_seconds`. One that takes longer is not CPU-bound, so
others need not wait for it."""

Prepare = Callable[[Installed], Awaitable[Start]]


class StartFailed(Exception):
    """Raised when the plugin did not become ready."""


class StartRefused(StartFailed):
    """Raised when the plugin did not become ready and another attempt would not change that."""


class Starter:
    """Starts processes for all plugins of a runtime and limits how many start at the same time."""

    def __init__(
        self,
        launcher: Launcher,
        prepare: Prepare,
        actions: HostActions,
        host_version: str,
        policy: Policy,
        guardian: Guardian,
        measure: Measure = folder_use,
    ) -> None:
        self._launcher = launcher
        self._prepare = prepare
        self._actions = actions
        self._host_version = host_version
        self._policy = policy
        self._guardian = guardian
        self._measure = measure
        self._turns = asyncio.Semaphore(policy.starts_at_once)

    async def begin(self, plugin: Installed, log: LogBuffer, stopping: asyncio.Event) -> Life:
        """Returns an instance that is ready. Raises StartFailed, immediately if `stopping` becomes set."""
        try:
            start = await first_of(self._prepared(plugin), _when(stopping))
            async with self._turns:
                if start is None or stopping.is_set():
                    raise StartFailed("it was stopped")
                life = await self._launch(start, log)
                patience = self._policy.start_seconds / _TURNS_IN_A_START
                await first_of(life.ready.wait(), life.leaving.wait(), stopping.wait(), _pass(patience))
            await first_of(life.ready.wait(), life.leaving.wait(), stopping.wait())
        except LaunchRefused as refusal:
            raise StartRefused(str(refusal)) from refusal
        except OSError as error:
            raise StartFailed(str(error)) from error
        if stopping.is_set() or life.leaving.is_set():
            await life.stop()
            raise StartFailed(life.reason)
        return life

    async def _prepared(self, plugin: Installed) -> Start | None:
        return await self._prepare(plugin)

    async def _launch(self, start: Start, log: LogBuffer) -> Life:
        limits = self._policy.wire
        await self._guardian.start()
        process = await self._launcher.launch(start)
        dispatcher = PluginDispatcher(start.plugin_id, self._actions, self._host_version)
        peer = Peer(process.wire(limits), dispatcher, limits, name=start.plugin_id)
        return Life(start, process, peer, dispatcher, log, self._policy, self._measure)


async def _when(event: asyncio.Event) -> Any:
    await event.wait()


async def _pass(seconds: float) -> Any:
    await asyncio.sleep(seconds)
