"""Administers the plugins of a running Host: what the records say is made true, and people see what became of it."""

import asyncio
import contextlib
import logging
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from parlour.core.plugins import Forget, PluginFacts, PluginProblem
from parlour.core.ports import Clock, PluginUnavailable
from parlour_sdk.plugin import PluginInvalid

from ..environments.builds import Builds
from ..environments.environment import Environments, key
from ..packages.requirements import read_requirements
from ..packages.sources import Package
from ..process.sandbox import SandboxState
from . import grants
from .folder import Installed, PluginFolder
from .installing import Installer
from .records import Record
from .views import building_facts, facts

logger = logging.getLogger(__name__)


class Running(Protocol):
    """A plugin that is being kept alive."""

    status: str
    reason: str


class Runtime(Protocol):
    async def refresh(self) -> None: ...

    async def replace(self, plugin: Installed) -> None:
        """Raises PluginUnavailable when the new version does not start; the old one is then still in service."""
        ...

    async def restart(self, plugin_id: str) -> None: ...

    def supervisors(self) -> Mapping[str, Running]: ...

    def log(self, plugin_id: str) -> list[str]: ...

    def folders_in_use(self) -> frozenset[Path]: ...


class Keeper:
    def __init__(
        self,
        folder: PluginFolder,
        environments: Environments,
        builds: Builds,
        installer: Installer,
        runtime: Runtime,
        data: Path,
        forget: Forget,
        clock: Clock,
        sandbox: SandboxState,
    ) -> None:
        self._folder = folder
        self._environments = environments
        self._builds = builds
        self._installer = installer
        self._runtime = runtime
        self._data = data
        self._forget = forget
        self._clock = clock
        self._sandbox = sandbox
        self._arriving: dict[str, Package] = {}
        self._refreshing = asyncio.Lock()

    async def refresh(self) -> None:
        """Makes what runs equal to what is recorded: removals ended, new plugins started, candidates tried."""
        async with self._refreshing:
            await self._runtime.refresh()
            for plugin_id, record in self._folder.records().items():
                if record.removing:
                    await self._end(plugin_id, record)
            for candidate in self._folder.candidates():
                await self._try(candidate)
            await asyncio.to_thread(self._sweep)

    async def _try(self, candidate: Installed) -> None:
        try:
            await self._runtime.replace(candidate)
        except PluginUnavailable as error:
            reason = str(error)
            logger.error("plugin %s %s is not taken: %s", candidate.plugin_id, candidate.version, reason)
            now = self._clock.now()
            self._folder.edit(candidate.plugin_id, lambda it: it.refusing(candidate.folder.name, reason, now))
        else:
            self._folder.edit(candidate.plugin_id, lambda it: it.promoting(candidate.folder.name))

    async def _end(self, plugin_id: str, record: Record) -> None:
        """The record goes last: as long as it is there, what was cut off is finished at the next refresh."""
        if record.removing == "delete":
            await self._forget(plugin_id)
            await asyncio.to_thread(shutil.rmtree, self._data / plugin_id, ignore_errors=True)
        self._folder.forget(plugin_id)

    def _sweep(self) -> None:
        self._folder.sweep(self._runtime.folders_in_use())
        self._environments.sweep(set(self._needed()))

    def _needed(self) -> Iterator[str]:
        for plugin_id, record in self._folder.records().items():
            for version in record.versions():
                plugin = self._folder.plugin(self._folder.version(plugin_id, version).folder)
                with contextlib.suppress(PluginInvalid):
                    if plugin is not None and plugin.manifest.execution.requirements:
                        yield key(read_requirements(plugin))

    def all(self) -> list[PluginFacts]:
        known = self._folder.records()
        packages = [package for name, package in self._arriving.items() if name not in known]
        arriving = [building_facts(package, self._sandbox) for package in packages]
        return sorted([*map(self._facts, known, known.values()), *arriving], key=lambda each: each.plugin_id)

    def get(self, plugin_id: str) -> PluginFacts | None:
        return next((each for each in self.all() if each.plugin_id == plugin_id), None)

    def _facts(self, plugin_id: str, record: Record) -> PluginFacts:
        running = self._runtime.supervisors().get(plugin_id)
        plugin = self._folder.plugin(self._folder.version(plugin_id, record.current).folder)
        status, reason = (running.status, running.reason) if running else ("stopped", "")
        if status == "starting" and plugin_id in self._builds.active():
            status = "building"
        return facts(plugin_id, record, plugin, status, reason, self._sandbox)

    async def log(self, plugin_id: str, limit: int) -> list[str]:
        self._known(plugin_id)
        return [*self._builds.lines(plugin_id), *self._runtime.log(plugin_id)][-limit:]

    async def install(
        self, source: str, shown: str | None, granted: Sequence[str] | None, upgrade: str | None
    ) -> PluginFacts:
        async with self._installer.package(source, shown) as package:
            before = self._installer.before(package, upgrade)
            given = _given(package, before, granted)
            self._arriving[package.plugin_id] = package
            try:
                installed = await self._installer.add(package, given)
            finally:
                self._arriving.pop(package.plugin_id, None)
        await self.refresh()
        return self._outcome(installed)

    def _outcome(self, installed: Installed) -> PluginFacts:
        record = self._folder.record(installed.plugin_id)
        if record is None:
            raise _unknown(installed.plugin_id)
        if record.refused is not None and record.refused.folder == installed.folder.name:
            raise PluginProblem(
                "plugin_not_started",
                f"{installed.plugin_id} {installed.version} could not be started, and {record.current.version} "
                f"goes on: {record.refused.reason}",
            )
        return self._facts(installed.plugin_id, record)

    async def change(self, plugin_id: str, granted: Sequence[str] | None, enabled: bool | None) -> PluginFacts:
        asked = self._known(plugin_id).asked
        try:
            given = None if granted is None else grants.chosen(granted, asked)
        except PluginInvalid as error:
            raise PluginProblem("invalid_argument", f"granted: {error}") from error

        def changed(record: Record) -> Record:
            record = record if given is None else record.granting(given)
            return record if enabled is None else record.model_copy(update={"enabled": enabled})

        self._folder.edit(plugin_id, changed)
        await self.refresh()
        return self._known(plugin_id)

    async def restart(self, plugin_id: str) -> PluginFacts:
        if not self._known(plugin_id).enabled:
            raise PluginProblem("disabled", f"plugin {plugin_id} is disabled; enable it first")
        try:
            await self._runtime.restart(plugin_id)
        except PluginUnavailable as error:
            raise PluginProblem("plugin_not_started", str(error)) from error
        return self._known(plugin_id)

    async def remove(self, plugin_id: str, delete_data: bool) -> None:
        self._known(plugin_id)
        wish = "delete" if delete_data else "keep"
        self._folder.edit(plugin_id, lambda record: record.model_copy(update={"removing": wish}))
        await self.refresh()

    def _known(self, plugin_id: str) -> PluginFacts:
        found = self.get(plugin_id)
        if found is None:
            raise _unknown(plugin_id)
        return found


def _given(package: Package, before: Record | None, granted: Sequence[str] | None) -> dict[str, list[str]]:
    """Nothing is granted that nobody has seen: the first time it is said what, later what was granted stays."""
    asked = grants.asked(package.plugin.manifest)
    if granted is not None:
        return grants.chosen(granted, asked)
    if before is not None:
        return grants.common(before.current.granted, asked)
    if asked:
        raise PluginProblem(
            "grants_required",
            f"{package.plugin_id} asks for permissions ({', '.join(asked)}); send 'granted' with those it gets, "
            "each as 'key' or 'key:value', or an empty list for none",
            {"asked": asked},
        )
    return {}


def _unknown(plugin_id: str) -> PluginProblem:
    return PluginProblem("not_found", f"plugin '{plugin_id}' does not exist; GET /api/v1/plugins lists them")
