"""Starts a plugin's process and waits until it can be called, or reports why it can't. Makes one attempt."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from parlour.core.asyncio_utils import first_completed
from parlour.isolation.reaper import ReaperProcess
from parlour_sdk.wire import Peer

from ..process.launcher import Launcher, LaunchRefused, LaunchSpec
from ..process.log_buffer import LogBuffer
from ..store import InstalledVersion
from .active_runs import ActivePluginRuns, RunOwner
from .connection import PluginCallHandler, PluginDispatcher
from .instance import PluginInstance
from .limits import Measure, measure_folder
from .policy import SupervisionPolicy

_SLOT_TIME_DIVISOR = 3
"""A start holds its slot for one part in this many of `start_seconds`. One that takes longer is not CPU-bound, so
others need not wait for it."""

Prepare = Callable[[InstalledVersion], Awaitable[LaunchSpec]]


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
        actions: PluginCallHandler,
        host_version: str,
        policy: SupervisionPolicy,
        guardian: ReaperProcess,
        measure: Measure = measure_folder,
    ) -> None:
        self._launcher = launcher
        self._prepare = prepare
        self._actions = actions
        self._host_version = host_version
        self._policy = policy
        self._reaper = guardian
        self._measure = measure
        self._slots = asyncio.Semaphore(policy.concurrent_starts)

    async def start(
        self, plugin: InstalledVersion, log: LogBuffer, stopping: asyncio.Event, owner: RunOwner
    ) -> PluginInstance:
        """Returns an instance that is ready. Raises StartFailed, immediately if `stopping` becomes set."""
        try:
            start = await first_completed(self._prepare_launch(plugin), _wait_for(stopping))
            async with self._slots:
                if start is None or stopping.is_set():
                    raise StartFailed("it was stopped")
                instance = await self._launch(start, log, owner)
                timeout = self._policy.start_seconds / _SLOT_TIME_DIVISOR
                await first_completed(instance.ready.wait(), instance.draining.wait(), stopping.wait(), _sleep(timeout))
            await first_completed(instance.ready.wait(), instance.draining.wait(), stopping.wait())
        except LaunchRefused as refusal:
            raise StartRefused(str(refusal)) from refusal
        except OSError as error:
            raise StartFailed(str(error)) from error
        if stopping.is_set() or instance.draining.is_set():
            await instance.stop()
            raise StartFailed(instance.reason)
        return instance

    async def _prepare_launch(self, plugin: InstalledVersion) -> LaunchSpec | None:
        return await self._prepare(plugin)

    async def _launch(self, start: LaunchSpec, log: LogBuffer, owner: RunOwner) -> PluginInstance:
        limits = self._policy.wire
        await self._reaper.start()
        process = await self._launcher.launch(start)
        dispatcher = PluginDispatcher(start.plugin_id, self._actions, self._host_version)
        peer = Peer(process.wire(limits), dispatcher, limits, name=start.plugin_id)
        ignored_cancel_seconds = self._policy.health.ignored_cancel_seconds
        runs = ActivePluginRuns(peer, start.limits.max_runs, ignored_cancel_seconds, owner)
        return PluginInstance(start, process, runs, dispatcher, log, self._policy, self._measure)


async def _wait_for(event: asyncio.Event) -> Any:
    await event.wait()


async def _sleep(seconds: float) -> Any:
    await asyncio.sleep(seconds)
