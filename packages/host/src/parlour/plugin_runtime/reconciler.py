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

from parlour.core.model.plugin_manager import Forget
from parlour.core.model.ports import Clock, PluginUnavailable
from parlour_sdk.plugin import PluginInvalid

from .environments.environment import Environments, key
from .packages.requirements import read_requirements
from .plugin_data import delete_data
from .records import Record, Version, Wish
from .store import Installed, PluginFolder

logger = logging.getLogger(__name__)


class Running(Protocol):
    """A plugin that is kept running."""

    status: str
    reason: str


class Runtime(Protocol):
    """Runs the processes of plugins."""

    async def settle(self, plugin_id: str, plugin: Installed | None) -> None:
        """Returns when this version runs or is known not to; with None, when nothing of the plugin runs."""
        ...

    async def replace(self, plugin: Installed) -> None:
        """Starts a version in place of the running one.

        Raises PluginUnavailable if the new version does not start; the old one then stays in service.
        """
        ...

    async def restart(self, plugin_id: str) -> None: ...

    def supervisors(self) -> Mapping[str, Running]: ...

    def log(self, plugin_id: str) -> list[str]: ...

    def folders_in_use(self) -> frozenset[Path]: ...


class Settler:
    def __init__(
        self,
        folder: PluginFolder,
        environments: Environments,
        runtime: Runtime,
        data: Path,
        forget: Forget,
        clock: Clock,
    ) -> None:
        self._folder = folder
        self._environments = environments
        self._runtime = runtime
        self._data = data
        self._forget = forget
        self._clock = clock
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._tried: set[Path] = set()
        """Folders of candidates that are starting; by now the command line may have recorded other candidates."""
        self._sweeping = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def turn(self, plugin_id: str) -> AsyncIterator[None]:
        """Locks one plugin.

        Changes to its version run one after the other, so that each caller learns the result of its own.
        """
        turn = self._turns.get(plugin_id)
        if turn is None:
            turn = self._turns[plugin_id] = asyncio.Lock()
        async with turn:
            yield

    async def everything(self) -> None:
        """Reconciles all plugins independently: an error with one is logged and does not keep others from starting."""
        for plugin_id, unusable in self._folder.unusable().items():
            logger.error("plugin %s can't run: %s", plugin_id, unusable.reason)
        names = dict.fromkeys((*self._runtime.supervisors(), *self._folder.records()))
        await asyncio.gather(*map(self._in_turn, names))
        await self._sweep()

    async def _in_turn(self, plugin_id: str) -> None:
        try:
            async with self.turn(plugin_id):
                await self._settle(plugin_id)
        except Exception:
            logger.exception("plugin %s could not be reconciled with its record", plugin_id)

    async def settle(self, plugin_id: str) -> None:
        """Reconciles one plugin. The caller holds its lock."""
        await self._settle(plugin_id)
        await self._sweep()

    async def _settle(self, plugin_id: str) -> None:
        record = await self._run(plugin_id)
        if record is not None and record.removing:
            await self._end(plugin_id, record.removing)
            await self._run(plugin_id)  # a version that was installed in its place
        record = self._folder.record(plugin_id)
        if record is not None and record.candidate and record.enabled and not record.removing:
            await self._try(plugin_id, record.candidate)

    async def _run(self, plugin_id: str) -> Record | None:
        """Makes the runtime match the record and returns that record.

        By now the command line may have written another.
        """
        record = self._folder.record(plugin_id)
        await self._runtime.settle(plugin_id, self._folder.wanted(plugin_id, record))
        return record

    async def _try(self, plugin_id: str, version: Version) -> None:
        candidate = self._folder.version(plugin_id, version)
        self._tried.add(candidate.folder)
        try:
            await self._runtime.replace(candidate)
        except PluginUnavailable as error:
            reason = str(error)
            logger.error("plugin %s %s is rejected: %s", plugin_id, version.version, reason)
            now = self._clock.now()
            await asyncio.to_thread(self._folder.edit, plugin_id, lambda it: it.refusing(version, reason, now))
        else:
            await asyncio.to_thread(self._folder.edit, plugin_id, lambda it: it.promoting(version))
        finally:
            self._tried.discard(candidate.folder)

    async def _end(self, plugin_id: str, wish: Wish) -> None:
        """Deletes the plugin's data if asked to, then its record.

        The record is deleted last: while it is there, the next refresh finishes an interrupted removal.
        """
        if wish == "delete":
            await self._forget(plugin_id)
            await asyncio.to_thread(delete_data, self._data, plugin_id)
        await asyncio.to_thread(self._folder.forget, plugin_id, wish)

    async def _sweep(self) -> None:
        async with self._sweeping:
            in_use = self._runtime.folders_in_use() | self._tried
            await asyncio.to_thread(self._swept, in_use)

    def _swept(self, in_use: frozenset[Path]) -> None:
        self._folder.sweep(in_use)
        self._environments.sweep(set(self._needed(in_use)))

    def _needed(self, in_use: frozenset[Path]) -> Iterator[str]:
        """Yields the keys of the environments in use.

        This includes processes that are only finishing their runs: they may not have imported everything yet.
        """
        recorded = self._folder.records().items()
        versions = [self._folder.version(name, version) for name, record in recorded for version in record.versions()]
        for folder in in_use.union(version.folder for version in versions):
            plugin = self._folder.plugin(folder)
            with contextlib.suppress(PluginInvalid):
                if plugin is not None and plugin.manifest.execution.requirements:
                    yield key(read_requirements(plugin))
