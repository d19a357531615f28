"""A plugin manager with a runtime that only records which versions run."""

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parlour.core.journal import StorageFailed
from parlour.core.model.plugin_manager import DeletePluginData
from parlour.core.model.ports import PluginUnavailable
from parlour.core.system import SystemClock
from parlour.plugin_runtime.environments.build_tracker import BuildTracker
from parlour.plugin_runtime.environments.environment import EnvironmentRules, Environments
from parlour.plugin_runtime.installer import Installer
from parlour.plugin_runtime.manager import LocalPluginManager
from parlour.plugin_runtime.packages.sources import PackageRules
from parlour.plugin_runtime.process.sandbox import SandboxState
from parlour.plugin_runtime.reconciler import PluginReconciler
from parlour.plugin_runtime.store import InstalledVersion, PluginStore

HELLO = "acme/hello"
REQUESTED_PERMISSIONS = "{network: [a.example, b.example], storage: [plugin]}"


@dataclass
class Running:
    plugin: InstalledVersion
    status: str = "ready"
    reason: str = ""


class RecordedRuntime:
    """Records the running versions. Versions in `start_failures` don't start."""

    def __init__(self, folder: PluginStore) -> None:
        self._folder = folder
        self.running: dict[str, Running] = {}
        self.start_failures: dict[str, str] = {}
        self.start_gates: dict[str, asyncio.Event] = {}
        """Versions whose start waits for the event."""
        self.starting: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.restarted: list[str] = []
        self.draining_folder: Path | None = None
        """The code of a process that only finishes its runs."""

    async def reconcile(self, plugin_id: str, plugin: InstalledVersion | None) -> None:
        if plugin is None:
            self.running.pop(plugin_id, None)
        elif plugin_id not in self.running or self.running[plugin_id].plugin != plugin:
            await self._start(plugin)
            reason = self.start_failures.get(plugin.version, "")
            self.running[plugin_id] = Running(plugin, "failed" if reason else "ready", reason)

    async def _start(self, plugin: InstalledVersion) -> None:
        self.starting[plugin.version].set()
        if plugin.version in self.start_gates:
            await self.start_gates[plugin.version].wait()

    async def replace(self, plugin: InstalledVersion) -> None:
        await self._start(plugin)
        if plugin.version in self.start_failures:
            raise PluginUnavailable(self.start_failures[plugin.version])
        self.running[plugin.plugin_id] = Running(plugin)

    async def restart(self, plugin_id: str) -> None:
        self.restarted.append(plugin_id)

    def supervisors(self) -> Mapping[str, Running]:
        return self.running

    def log(self, plugin_id: str) -> list[str]:
        return ["one", "two", "three"]

    def folders_in_use(self) -> frozenset[Path]:
        return frozenset(each.plugin.folder for each in self.running.values()) | {*filter(None, [self.draining_folder])}


class WatchedReconciler(PluginReconciler):
    """Counts how often the lock of a plugin was requested."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._lock_requests: Counter[str] = Counter()
        self._changed = asyncio.Condition()

    @contextlib.asynccontextmanager
    async def lock(self, plugin_id: str) -> AsyncIterator[None]:
        self._lock_requests[plugin_id] += 1
        async with self._changed:
            self._changed.notify_all()
        async with super().lock(plugin_id):
            yield

    async def wait_for_lock_requests(self, plugin_id: str, times: int) -> None:
        async with asyncio.timeout(10), self._changed:
            await self._changed.wait_for(lambda: self._lock_requests[plugin_id] >= times)


class World:
    def __init__(self, path: Path, uv: Path | None = None) -> None:
        self.root = path / "plugins"
        self.data = path / "plugin-data"
        self.folder = PluginStore(self.root)
        self.runtime = RecordedRuntime(self.folder)
        environments = Environments(path / "environments", EnvironmentRules(uv=uv, sandbox="off" if uv else "auto"))
        builds = BuildTracker(environments)
        self.installer = Installer(self.folder, builds, PackageRules(), SystemClock())
        self.reconciler = WatchedReconciler(
            self.folder, environments, self.runtime, self.data, self._forget, SystemClock()
        )
        self.manager = LocalPluginManager(
            self.folder,
            builds,
            self.installer,
            self.runtime,
            self.reconciler,
            SandboxState("none"),
        )
        self.forgotten: list[str] = []
        """Plugins whose stored data was deleted, each with the number of plugins that ran then."""
        self.database_is_unavailable = False
        self.on_forget: DeletePluginData | None = None

    async def _forget(self, plugin_id: str) -> None:
        if self.database_is_unavailable:
            raise StorageFailed("storage_failed", "the database is unavailable")
        self.forgotten.append(f"{plugin_id} {len(self.runtime.running)}")
        if self.on_forget is not None:
            await self.on_forget(plugin_id)

    async def install(self, source: Path, granted: list[str] | None = None, upgrade: str | None = None) -> str:
        facts = await self.manager.install(str(source), None, granted, upgrade)
        return f"{facts.version} {facts.status}"

    def version(self) -> str:
        return self.runtime.running[HELLO].plugin.version
