"""The Plugin Runtime inside the Host: one supervisor per installed plugin, and the core's access to them."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import PluginManifestReport
from parlour.core.model.ports import PluginUnavailable, ResultStream
from parlour.isolation.reaper import ReaperProcess

from ..process.launcher import Launcher
from ..process.log_buffer import LogBuffer
from ..store import InstalledVersion, PluginStore
from .connection import PluginCallHandler
from .policy import SupervisionPolicy
from .starter import Prepare, Starter
from .status import PluginStatus, PluginStatusFile
from .supervisor import Supervisor

logger = logging.getLogger(__name__)


class EmbeddedRuntime:
    def __init__(
        self,
        folder: PluginStore,
        launcher: Launcher,
        prepare: Prepare,
        host_version: str,
        discovered: Callable[[InstalledVersion, PluginManifestReport], None],
        removed: Callable[[PluginId], None],
        status: PluginStatusFile,
        logs: Callable[[PluginId], LogBuffer],
        guardian: ReaperProcess,
        policy: SupervisionPolicy,
    ) -> None:
        self._store = folder
        self._launcher = launcher
        self._prepare = prepare
        self._host_version = host_version
        self._discovered = discovered
        self._removed = removed
        self._status = status
        self._logs = logs
        self._reaper = guardian
        self._policy = policy
        self._starter: Starter | None = None
        self._supervisors: dict[PluginId, Supervisor] = {}

    def serve(self, actions: PluginCallHandler) -> None:
        """Sets the actions that plugins may call. Called once, before the first start.

        It is no constructor argument: the core provides the actions, and is itself built on this runtime.
        """
        self._starter = Starter(self._launcher, self._prepare, actions, self._host_version, self._policy, self._reaper)

    async def refresh(self) -> None:
        """Makes the running plugins match the installed ones.

        A version that does not become ready leaves the one before it in place.
        """
        installed = self._store.all_desired()
        names = dict.fromkeys((*self._supervisors, *installed))
        await asyncio.gather(*(self.reconcile(plugin_id, installed.get(plugin_id)) for plugin_id in names))

    async def reconcile(self, plugin_id: PluginId, plugin: InstalledVersion | None) -> None:
        """Makes one plugin match, without waiting for others. The caller avoids concurrent calls for one plugin."""
        if plugin is not None:
            await self._ensure_version(plugin)
        elif plugin_id in self._supervisors:
            await self._remove(plugin_id)

    async def replace(self, plugin: InstalledVersion) -> None:
        """Starts this version, which serves from now on; the one before it finishes its runs.

        Raises PluginUnavailable if it does not become ready; the one before, if there is one, then keeps serving.
        """
        supervisor = self._supervisors.get(plugin.plugin_id)
        if supervisor is not None:
            await supervisor.replace(plugin)
            return
        supervisor = self._supervise(plugin)
        await supervisor.wait_until_started()
        if supervisor.status != "ready":
            raise PluginUnavailable(f"plugin {plugin.plugin_id} is not ready: {supervisor.reason}")

    async def restart(self, plugin_id: PluginId) -> None:
        """Starts a fresh process immediately, even of a plugin that was given up.

        Raises PluginUnavailable like `replace`.
        """
        supervisor = self._require_supervisor(plugin_id)
        await supervisor.replace(supervisor.plugin)

    async def close(self) -> None:
        await asyncio.gather(*(supervisor.stop() for supervisor in self._supervisors.values()))
        await self._reaper.close()

    def supervisors(self) -> dict[PluginId, Supervisor]:
        return dict(self._supervisors)

    def log(self, plugin_id: PluginId) -> list[str]:
        supervisor = self._supervisors.get(plugin_id)
        return supervisor.log.lines() if supervisor else []

    def folders_in_use(self) -> frozenset[Path]:
        return frozenset().union(*(supervisor.folders() for supervisor in self._supervisors.values()))

    def run_agent(self, plugin_id: PluginId, request: dict[str, Any]) -> ResultStream:
        supervisor = self._supervisors.get(plugin_id)
        return supervisor.run(request) if supervisor else UnavailableRun(plugin_id)

    async def call(self, plugin_id: PluginId, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        return await self._require_supervisor(plugin_id).call(action, data, timeout)

    async def stream(self, plugin_id: PluginId, action: str, data: dict[str, Any]) -> ResultStream:
        return await self._require_supervisor(plugin_id).stream(action, data)

    def _require_supervisor(self, plugin_id: PluginId) -> Supervisor:
        supervisor = self._supervisors.get(plugin_id)
        if supervisor is None:
            raise PluginUnavailable(f"plugin {plugin_id} is not installed")
        return supervisor

    async def _ensure_version(self, plugin: InstalledVersion) -> None:
        supervisor = self._supervisors.get(plugin.plugin_id)
        if supervisor is None:
            await self._supervise(plugin).wait_until_started()
        elif supervisor.plugin != plugin:
            try:
                await supervisor.replace(plugin)
            except PluginUnavailable as error:
                logger.error("version %s is rejected: %s", plugin.version, error)
                if supervisor.peer is None:
                    supervisor.plugin = plugin  # the old version neither serves nor is installed

    def _supervise(self, plugin: InstalledVersion) -> Supervisor:
        if self._starter is None:
            raise RuntimeError("serve() comes before the first start")
        logger.info("starting plugin %s %s", plugin.plugin_id, plugin.version)
        supervisor = Supervisor(
            plugin, self._starter, self._logs(plugin.plugin_id), self._policy, self._discovered, self._write_status
        )
        self._supervisors[plugin.plugin_id] = supervisor
        return supervisor

    async def _remove(self, plugin_id: PluginId) -> None:
        self._removed(plugin_id)
        await self._supervisors[plugin_id].retire()
        del self._supervisors[plugin_id]
        self._write_status()

    def _write_status(self) -> None:
        self._status.write(
            {
                plugin_id: PluginStatus(supervisor.status, supervisor.reason, supervisor.plugin.stamp)
                for plugin_id, supervisor in self._supervisors.items()
            }
        )


class UnavailableRun:
    """The run of a plugin that is not installed."""

    def __init__(self, plugin_id: PluginId) -> None:
        self._plugin_id = plugin_id

    async def batch(self) -> list[Any]:
        raise PluginUnavailable(f"plugin {self._plugin_id} is not installed")

    def abort(self, error: BaseException) -> None: ...
