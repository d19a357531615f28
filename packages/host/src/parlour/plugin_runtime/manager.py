"""Administers the plugins of a running Host: operators change the records and see the result."""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import UNUSABLE, PluginError, PluginInfo
from parlour.core.model.ports import PluginUnavailable
from parlour_sdk.plugin import PluginInvalid

from . import disk_errors, permissions
from .environments.build_tracker import BuildTracker
from .installer import Installer
from .packages.sources import Package
from .process.sandbox import SandboxState
from .reconciler import ManagedRuntime, PluginReconciler
from .records import PluginRecord
from .store import InstalledVersion, PluginStore
from .views import building_facts, current_version_text, facts, unusable_facts


class LocalPluginManager:
    def __init__(
        self,
        folder: PluginStore,
        builds: BuildTracker,
        installer: Installer,
        runtime: ManagedRuntime,
        reconciler: PluginReconciler,
        sandbox: SandboxState,
    ) -> None:
        self._store = folder
        self._builds = builds
        self._installer = installer
        self._runtime = runtime
        self._reconciler = reconciler
        self._sandbox = sandbox
        self._building: dict[PluginId, Package] = {}

    async def refresh(self) -> None:
        """Makes the running plugins match the records, including those that the command line has changed."""
        await self._reconciler.reconcile_all()

    def all(self) -> list[PluginInfo]:
        infos = [self._facts(plugin_id, record) for plugin_id, record in self._store.records().items()]
        listed_ids = {each.plugin_id for each in infos}
        packages = [package for name, package in self._building.items() if name not in listed_ids]
        infos += [building_facts(package, self._sandbox) for package in packages]
        listed_ids |= self._building.keys()
        unusable = {name: each for name, each in self._store.unusable().items() if name not in listed_ids}
        infos += [unusable_facts(name, each, self._sandbox) for name, each in unusable.items()]
        return sorted(infos, key=lambda each: each.plugin_id)

    def get(self, plugin_id: PluginId) -> PluginInfo | None:
        return next((each for each in self.all() if each.plugin_id == plugin_id), None)

    def _facts(self, plugin_id: PluginId, record: PluginRecord) -> PluginInfo:
        running = self._runtime.supervisors().get(plugin_id)
        plugin = self._store.load_plugin(self._store.installed_version(plugin_id, record.current).folder)
        status, reason = (running.status, running.reason) if running else ("stopped", "")
        if status == "starting" and plugin_id in self._builds.active():
            status = "building"
        return facts(plugin_id, record, plugin, status, reason, self._sandbox)

    async def log(self, plugin_id: PluginId, limit: int) -> list[str]:
        self._require_known(plugin_id)
        return [*self._builds.lines(plugin_id), *self._runtime.log(plugin_id)][-limit:]

    async def install(
        self, source: str, display_name: str | None, granted: Sequence[str] | None, upgrade: str | None
    ) -> PluginInfo:
        async with contextlib.AsyncExitStack() as stack:
            async with self._installer.package(source, display_name) as package:
                _resolve_permissions(
                    package, self._installer.installed_record(package, upgrade), granted
                )  # before anything is built for it
                with self._show_building(package):
                    await self._installer.build(package)
                await stack.enter_async_context(self._reconciler.lock(package.plugin_id))
                previous = self._installer.installed_record(package, upgrade)
                installed = await self._installer.add(package, _resolve_permissions(package, previous, granted))
            with _record_errors(package.plugin_id):
                await self._reconciler.reconcile(package.plugin_id)
            return self._install_result(installed)

    @contextlib.contextmanager
    def _show_building(self, package: Package) -> Iterator[None]:
        """Lists the plugin as being built until the block ends."""
        self._building[package.plugin_id] = package
        try:
            yield
        finally:
            if self._building.get(package.plugin_id) is package:  # otherwise another build of it is running
                del self._building[package.plugin_id]

    def _install_result(self, installed: InstalledVersion) -> PluginInfo:
        record = self._store.record(installed.plugin_id)
        if record is None:
            raise _not_found(installed.plugin_id)
        if record.refused is not None and record.refused.folder == installed.folder.name:
            running = self._runtime.supervisors().get(installed.plugin_id)
            raise PluginError(
                "plugin_not_started",
                f"{installed.plugin_id} {installed.version} could not be started, and "
                f"{current_version_text(record.current.version, running.status if running else '')}: "
                f"{record.refused.reason}",
            )
        if installed.folder.name not in {version.folder for version in record.versions()}:
            raise PluginError(
                "plugin_not_started",
                f"{installed.plugin_id} {installed.version} was not taken, since another version was installed "
                "meanwhile; install it again if it is the one that should run",
            )
        return self._facts(installed.plugin_id, record)

    async def change(self, plugin_id: PluginId, granted: Sequence[str] | None, enabled: bool | None) -> PluginInfo:
        requested = self._require_usable(plugin_id).asked
        try:
            parsed = None if granted is None else permissions.parse_permissions(granted, requested)
        except PluginInvalid as error:
            raise PluginError("invalid_argument", f"granted: {error}") from error

        def changed(record: PluginRecord) -> PluginRecord:
            record = record if parsed is None else record.with_permissions(parsed)
            return record if enabled is None else record.model_copy(update={"enabled": enabled})

        with _record_errors(plugin_id):
            await asyncio.to_thread(
                self._store.edit, plugin_id, changed
            )  # immediately: a revoked permission must not wait for a start
            async with self._reconciler.lock(plugin_id):
                await self._reconciler.reconcile(plugin_id)
                return self._require_known(plugin_id)

    async def restart(self, plugin_id: PluginId) -> PluginInfo:
        self._require_known(plugin_id)
        async with self._reconciler.lock(plugin_id):
            if not self._require_usable(plugin_id).enabled:
                raise PluginError("disabled", f"plugin {plugin_id} is disabled; enable it first")
            try:
                with disk_errors.translate_os_errors(f"{plugin_id} can't be restarted"):
                    await self._runtime.restart(plugin_id)
            except PluginUnavailable as error:
                raise PluginError("plugin_not_started", str(error)) from error
            return self._require_known(plugin_id)

    async def remove(self, plugin_id: PluginId, delete_data: bool) -> None:
        self._require_known(plugin_id)
        async with self._reconciler.lock(plugin_id):
            with _record_errors(plugin_id):
                if not await asyncio.to_thread(
                    self._store.mark_for_removal, plugin_id, "delete" if delete_data else "keep"
                ):
                    raise _not_found(plugin_id)
                await self._reconciler.reconcile(plugin_id)

    def _require_usable(self, plugin_id: PluginId) -> PluginInfo:
        """Returns a plugin that can be changed.

        Raises PluginError also for one that can only be reinstalled or removed.
        """
        info = self._require_known(plugin_id)
        unusable = self._store.unusable().get(plugin_id)
        if unusable is not None:
            raise PluginError(UNUSABLE, f"plugin {plugin_id} can't be changed or started: {unusable.reason}")
        return info

    def _require_known(self, plugin_id: PluginId) -> PluginInfo:
        info = self.get(plugin_id)
        if info is None:
            raise _not_found(plugin_id)
        return info


def _record_errors(plugin_id: PluginId) -> AbstractContextManager[None]:
    return disk_errors.translate_os_errors(f"what was changed about {plugin_id} can't be written down")


def _resolve_permissions(
    package: Package, previous: PluginRecord | None, granted: Sequence[str] | None
) -> dict[str, list[str]]:
    """Returns the permissions to grant.

    The first installation must name them, and later ones keep what was granted, so that no permission is granted that
    no operator has seen.
    """
    requested = permissions.requested_permissions(package.plugin.manifest)
    if granted is not None:
        return permissions.parse_permissions(granted, requested)
    if previous is not None:
        return permissions.intersect(previous.current.granted, requested)
    if requested:
        raise PluginError(
            "grants_required",
            f"{package.plugin_id} asks for permissions ({', '.join(requested)}); send 'granted' with those it gets, "
            "each as 'key' or 'key:value', or an empty list for none",
            {"asked": requested},
        )
    return {}


def _not_found(plugin_id: PluginId) -> PluginError:
    return PluginError("not_found", f"plugin '{plugin_id}' does not exist; GET /api/v1/plugins lists them")
