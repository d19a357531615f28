"""Administers the plugins of a running Host: operators change the records and see the result."""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from parlour.core.model.plugin_manager import UNUSABLE, PluginFacts, PluginProblem
from parlour.core.model.ports import PluginUnavailable
from parlour_sdk.plugin import PluginInvalid

from . import disk_errors, permissions
from .environments.build_tracker import Builds
from .installer import Installer
from .packages.sources import Package
from .process.sandbox import SandboxState
from .reconciler import Runtime, Settler
from .records import Record
from .store import Installed, PluginFolder
from .views import building_facts, facts, staying, unusable_facts


class Keeper:
    def __init__(
        self,
        folder: PluginFolder,
        builds: Builds,
        installer: Installer,
        runtime: Runtime,
        settler: Settler,
        sandbox: SandboxState,
    ) -> None:
        self._folder = folder
        self._builds = builds
        self._installer = installer
        self._runtime = runtime
        self._settler = settler
        self._sandbox = sandbox
        self._arriving: dict[str, Package] = {}

    async def refresh(self) -> None:
        """Makes the running plugins match the records, including those that the command line has changed."""
        await self._settler.everything()

    def all(self) -> list[PluginFacts]:
        found = [self._facts(plugin_id, record) for plugin_id, record in self._folder.records().items()]
        known = {each.plugin_id for each in found}
        packages = [package for name, package in self._arriving.items() if name not in known]
        found += [building_facts(package, self._sandbox) for package in packages]
        known |= self._arriving.keys()
        unusable = {name: each for name, each in self._folder.unusable().items() if name not in known}
        found += [unusable_facts(name, each, self._sandbox) for name, each in unusable.items()]
        return sorted(found, key=lambda each: each.plugin_id)

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
        async with contextlib.AsyncExitStack() as stack:
            async with self._installer.package(source, shown) as package:
                _given(package, self._installer.before(package, upgrade), granted)  # before anything is built for it
                with self._arrival(package):
                    await self._installer.build(package)
                await stack.enter_async_context(self._settler.turn(package.plugin_id))
                before = self._installer.before(package, upgrade)
                installed = await self._installer.add(package, _given(package, before, granted))
            with _recorded(package.plugin_id):
                await self._settler.settle(package.plugin_id)
            return self._outcome(installed)

    @contextlib.contextmanager
    def _arrival(self, package: Package) -> Iterator[None]:
        """Lists the plugin as being built until the block ends."""
        self._arriving[package.plugin_id] = package
        try:
            yield
        finally:
            if self._arriving.get(package.plugin_id) is package:  # otherwise another build of it is running
                del self._arriving[package.plugin_id]

    def _outcome(self, installed: Installed) -> PluginFacts:
        record = self._folder.record(installed.plugin_id)
        if record is None:
            raise _unknown(installed.plugin_id)
        if record.refused is not None and record.refused.folder == installed.folder.name:
            running = self._runtime.supervisors().get(installed.plugin_id)
            raise PluginProblem(
                "plugin_not_started",
                f"{installed.plugin_id} {installed.version} could not be started, and "
                f"{staying(record.current.version, running.status if running else '')}: {record.refused.reason}",
            )
        if installed.folder.name not in {version.folder for version in record.versions()}:
            raise PluginProblem(
                "plugin_not_started",
                f"{installed.plugin_id} {installed.version} was not taken, since another version was installed "
                "meanwhile; install it again if it is the one that should run",
            )
        return self._facts(installed.plugin_id, record)

    async def change(self, plugin_id: str, granted: Sequence[str] | None, enabled: bool | None) -> PluginFacts:
        asked = self._usable(plugin_id).asked
        try:
            given = None if granted is None else permissions.chosen(granted, asked)
        except PluginInvalid as error:
            raise PluginProblem("invalid_argument", f"granted: {error}") from error

        def changed(record: Record) -> Record:
            record = record if given is None else record.granting(given)
            return record if enabled is None else record.model_copy(update={"enabled": enabled})

        with _recorded(plugin_id):
            await asyncio.to_thread(
                self._folder.edit, plugin_id, changed
            )  # immediately: a revoked permission must not wait for a start
            async with self._settler.turn(plugin_id):
                await self._settler.settle(plugin_id)
                return self._known(plugin_id)

    async def restart(self, plugin_id: str) -> PluginFacts:
        self._known(plugin_id)
        async with self._settler.turn(plugin_id):
            if not self._usable(plugin_id).enabled:
                raise PluginProblem("disabled", f"plugin {plugin_id} is disabled; enable it first")
            try:
                with disk_errors.in_words(f"{plugin_id} can't be restarted"):
                    await self._runtime.restart(plugin_id)
            except PluginUnavailable as error:
                raise PluginProblem("plugin_not_started", str(error)) from error
            return self._known(plugin_id)

    async def remove(self, plugin_id: str, delete_data: bool) -> None:
        self._known(plugin_id)
        async with self._settler.turn(plugin_id):
            with _recorded(plugin_id):
                if not await asyncio.to_thread(self._folder.give_up, plugin_id, "delete" if delete_data else "keep"):
                    raise _unknown(plugin_id)
                await self._settler.settle(plugin_id)

    def _usable(self, plugin_id: str) -> PluginFacts:
        """Returns a plugin that can be changed.

        Raises PluginError also for one that can only be reinstalled or removed.
        """
        found = self._known(plugin_id)
        unusable = self._folder.unusable().get(plugin_id)
        if unusable is not None:
            raise PluginProblem(UNUSABLE, f"plugin {plugin_id} can't be changed or started: {unusable.reason}")
        return found

    def _known(self, plugin_id: str) -> PluginFacts:
        found = self.get(plugin_id)
        if found is None:
            raise _unknown(plugin_id)
        return found


def _recorded(plugin_id: str) -> AbstractContextManager[None]:
    return disk_errors.in_words(f"what was changed about {plugin_id} can't be written down")


def _given(package: Package, before: Record | None, granted: Sequence[str] | None) -> dict[str, list[str]]:
    """Returns the permissions to grant.

    The first installation must name them, and later ones keep what was granted, so that no permission is granted that
    no operator has seen.
    """
    asked = permissions.asked(package.plugin.manifest)
    if granted is not None:
        return permissions.chosen(granted, asked)
    if before is not None:
        return permissions.common(before.current.granted, asked)
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
