"""The Plugin Runtime inside the Host: one supervisor per installed plugin, and the core's way to call them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from parlour.core.ports import PluginUnavailable, ResultStream
from parlour_sdk.wire import Limits

from .connection import HostActions, PluginStream
from .folder import Installed, PluginFolder
from .launcher import Launcher, Start
from .status import PluginStatus, StatusFile
from .supervisor import RestartPolicy, Supervisor

logger = logging.getLogger(__name__)


class EmbeddedRuntime:
    def __init__(
        self,
        folder: PluginFolder,
        launcher: Launcher,
        prepare: Callable[[Installed], Awaitable[Start]],
        host_version: str,
        discovered: Callable[[Installed, list[Any]], None],
        removed: Callable[[str], None],
        status: StatusFile,
        policy: RestartPolicy | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._folder = folder
        self._launcher = launcher
        self._prepare = prepare
        self._host_version = host_version
        self._discovered = discovered
        self._removed = removed
        self._status = status
        self._policy = policy or RestartPolicy()
        self._limits = limits or Limits()
        self._actions: HostActions | None = None
        self._supervisors: dict[str, Supervisor] = {}
        self._refreshing = asyncio.Lock()

    def serve(self, actions: HostActions) -> None:
        """What plugins may call. Given once, before the first start."""
        self._actions = actions

    async def refresh(self) -> None:
        """Makes what runs equal to what is installed."""
        if self._actions is None:
            raise RuntimeError("serve() comes before refresh()")
        async with self._refreshing:
            installed = self._folder.installed()
            outdated = [
                each for each in self._supervisors.values() if installed.get(each.plugin.plugin_id) != each.plugin
            ]
            for supervisor in outdated:
                del self._supervisors[supervisor.plugin.plugin_id]
            for plugin_id, plugin in installed.items():
                if plugin_id not in self._supervisors:
                    logger.info("plugin %s %s starts", plugin_id, plugin.version)
                    self._supervisors[plugin_id] = self._supervise(plugin, self._actions)
            for supervisor in outdated:  # what an upgraded one was asked meanwhile waits for its successor
                await supervisor.stop()
                if supervisor.plugin.plugin_id not in installed:
                    self._removed(supervisor.plugin.plugin_id)
            await asyncio.gather(*(supervisor.settled() for supervisor in self._supervisors.values()))

    def _supervise(self, plugin: Installed, actions: HostActions) -> Supervisor:
        return Supervisor(
            plugin,
            self._launcher,
            self._prepare,
            actions,
            self._discovered,
            self._host_version,
            self._policy,
            self._limits,
            self._tell,
        )

    async def close(self) -> None:
        await asyncio.gather(*(supervisor.stop() for supervisor in self._supervisors.values()))

    def supervisors(self) -> dict[str, Supervisor]:
        return dict(self._supervisors)

    def _tell(self) -> None:
        self._status.write(
            {
                plugin_id: PluginStatus(supervisor.status, supervisor.reason, supervisor.plugin.stamp)
                for plugin_id, supervisor in self._supervisors.items()
            }
        )

    def run_agent(self, plugin_id: str, request: dict[str, Any]) -> ResultStream:
        supervisor = self._supervisors.get(plugin_id)
        if supervisor is not None and supervisor.peer is not None:
            return PluginStream(supervisor.peer.stream("run_agent", request))
        return WaitingStream(plugin_id, supervisor, request)


class WaitingStream:
    """A run whose plugin is not ready: waits for it, then is its stream."""

    def __init__(self, plugin_id: str, supervisor: Supervisor | None, request: dict[str, Any]) -> None:
        self._plugin_id = plugin_id
        self._supervisor = supervisor
        self._request = request
        self._stream: PluginStream | None = None
        self._ready: asyncio.Task[Any] | None = None
        self._aborted: BaseException | None = None

    async def batch(self) -> list[Any]:
        if self._aborted is not None:
            raise self._aborted
        if self._stream is None:
            self._stream = await self._open()
        return await self._stream.batch()

    def abort(self, error: BaseException) -> None:
        self._aborted = self._aborted or error
        if self._stream is not None:
            self._stream.abort(error)
        elif self._ready is not None:
            self._ready.cancel()

    async def _open(self) -> PluginStream:
        if self._supervisor is None:
            raise PluginUnavailable(f"plugin {self._plugin_id} is not installed")
        self._ready = asyncio.create_task(self._supervisor.ready())
        try:
            peer = await self._ready
        except asyncio.CancelledError:
            if self._aborted is not None:
                raise self._aborted from None
            self._ready.cancel()
            raise
        return PluginStream(peer.stream("run_agent", self._request))
