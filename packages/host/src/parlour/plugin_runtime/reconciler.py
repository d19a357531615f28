"""Makes the running plugins match the records: finishes removals, starts new plugins and tries candidates.

It never changes what the operator asked for. Each plugin has a lock of its own: one that hangs at its start delays only
itself.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Protocol
from weakref import WeakValueDictionary

from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import DeletePluginData
from parlour.core.model.ports import Clock, PluginUnavailable
from parlour_sdk.plugin import PluginInvalid

from .environments.environment import Environments, environment_key
from .packages.requirements import read_requirements
from .plugin_data import delete_data
from .records import PluginRecord, RemovalMode, Version
from .store import InstalledVersion, PluginStore

logger = logging.getLogger(__name__)


class RunningPlugin(Protocol):
    """A plugin that is kept running."""

    status: str
    reason: str


class ManagedRuntime(Protocol):
    """Runs the processes of plugins."""

    async def reconcile(self, plugin_id: PluginId, plugin: InstalledVersion | None) -> None:
        """Returns when this version runs or is known not to; with None, when nothing of the plugin runs."""
        ...

    async def replace(self, plugin: InstalledVersion) -> None:
        """Starts a version in place of the running one.

        Raises PluginUnavailable if the new version does not start; the old one then stays in service.
        """
        ...

    async def restart(self, plugin_id: PluginId) -> None: ...

    def supervisors(self) -> Mapping[PluginId, RunningPlugin]: ...

    def log(self, plugin_id: PluginId) -> list[str]: ...

    def folders_in_use(self) -> frozenset[Path]: ...


class PluginReconciler:
    def __init__(
        self,
        folder: PluginStore,
        environments: Environments,
        runtime: ManagedRuntime,
        data: Path,
        forget: DeletePluginData,
        clock: Clock,
    ) -> None:
        self._store = folder
        self._environments = environments
        self._runtime = runtime
        self._data = data
        self._delete_stored_data = forget
        self._clock = clock
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._starting_candidates: set[Path] = set()
        """Folders of candidates that are starting; by now the command line may have recorded other candidates."""
        self._clean_up_lock = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def lock(self, plugin_id: PluginId) -> AsyncIterator[None]:
        """Locks one plugin.

        Changes to its version run one after the other, so that each caller learns the result of its own.
        """
        turn = self._locks.get(plugin_id)
        if turn is None:
            turn = self._locks[plugin_id] = asyncio.Lock()
        async with turn:
            yield

    async def reconcile_all(self) -> None:
        """Reconciles all plugins independently: an error with one is logged and does not keep others from starting."""
        for plugin_id, unusable in self._store.unusable().items():
            logger.error("plugin %s can't run: %s", plugin_id, unusable.reason)
        names = dict.fromkeys((*self._runtime.supervisors(), *self._store.records()))
        await asyncio.gather(*map(self._reconcile_locked, names))
        await self._clean_up()

    async def _reconcile_locked(self, plugin_id: PluginId) -> None:
        try:
            async with self.lock(plugin_id):
                await self._reconcile(plugin_id)
        except Exception:
            logger.exception("plugin %s could not be reconciled with its record", plugin_id)

    async def reconcile(self, plugin_id: PluginId) -> None:
        """Reconciles one plugin. The caller holds its lock."""
        await self._reconcile(plugin_id)
        await self._clean_up()

    async def _reconcile(self, plugin_id: PluginId) -> None:
        record = await self._apply_record(plugin_id)
        if record is not None and record.removing:
            await self._finish_removal(plugin_id, record.removing)
            await self._apply_record(plugin_id)  # a version that was installed in its place
        record = self._store.record(plugin_id)
        if record is not None and record.candidate and record.enabled and not record.removing:
            await self._try_candidate(plugin_id, record.candidate)

    async def _apply_record(self, plugin_id: PluginId) -> PluginRecord | None:
        """Makes the runtime match the record and returns that record.

        By now the command line may have written another.
        """
        record = self._store.record(plugin_id)
        await self._runtime.reconcile(plugin_id, self._store.desired(plugin_id, record))
        return record

    async def _try_candidate(self, plugin_id: PluginId, version: Version) -> None:
        candidate = self._store.installed_version(plugin_id, version)
        self._starting_candidates.add(candidate.folder)
        try:
            await self._runtime.replace(candidate)
        except PluginUnavailable as error:
            reason = str(error)
            logger.error("plugin %s %s is rejected: %s", plugin_id, version.version, reason)
            now = self._clock.now()
            await asyncio.to_thread(
                self._store.edit, plugin_id, lambda record: record.with_rejected(version, reason, now)
            )
        else:
            await asyncio.to_thread(self._store.edit, plugin_id, lambda record: record.with_promoted(version))
        finally:
            self._starting_candidates.discard(candidate.folder)

    async def _finish_removal(self, plugin_id: PluginId, mode: RemovalMode) -> None:
        """Deletes the plugin's data if asked to, then its record.

        The record is deleted last: while it is there, the next refresh finishes an interrupted removal.
        """
        if mode == "delete":
            await self._delete_stored_data(plugin_id)
            await asyncio.to_thread(delete_data, self._data, plugin_id)
        await asyncio.to_thread(self._store.delete, plugin_id, mode)

    async def _clean_up(self) -> None:
        async with self._clean_up_lock:
            in_use = self._runtime.folders_in_use() | self._starting_candidates
            await asyncio.to_thread(self._delete_unused, in_use)

    def _delete_unused(self, in_use: frozenset[Path]) -> None:
        self._store.delete_unused(in_use)
        self._environments.delete_unused(set(self._needed_environments(in_use)))

    def _needed_environments(self, in_use: frozenset[Path]) -> Iterator[str]:
        """Yields the keys of the environments in use.

        This includes processes that are only finishing their runs: they may not have imported everything yet.
        """
        recorded = self._store.records().items()
        versions = [
            self._store.installed_version(name, version) for name, record in recorded for version in record.versions()
        ]
        for folder in in_use.union(version.folder for version in versions):
            plugin = self._store.load_plugin(folder)
            with contextlib.suppress(PluginInvalid):
                if plugin is not None and plugin.manifest.execution.requirements:
                    yield environment_key(read_requirements(plugin))
