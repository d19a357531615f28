"""`parlour plugin install`, `list` and `remove`: work on the data directory and signal a running Host to apply it."""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from parlour.app.data_directory import DataDirectory, DataDirectoryUnusable
from parlour.app.installation import InstallServices, open_install_services
from parlour.app.settings import HostSettings
from parlour.core.access.permission_text import describe_permissions
from parlour.core.journal import StorageFailed
from parlour.core.model.plugin_manager import PluginError
from parlour.core.store.storage import Storage
from parlour.core.system import SystemClock
from parlour.plugin_runtime import disk_errors
from parlour.plugin_runtime import permissions as grants
from parlour.plugin_runtime.environments.environment import WITHOUT_SANDBOX
from parlour.plugin_runtime.packages.sources import Package
from parlour.plugin_runtime.plugin_data import delete_data
from parlour.plugin_runtime.records import PluginRecord, RemovalMode
from parlour.plugin_runtime.store import InstalledVersion
from parlour.plugin_runtime.supervision.status import PluginStatus, PluginStatusFile
from parlour.plugin_runtime.views import kept_version_text
from parlour.stores.factory import current_revision, open_journal
from parlour_sdk.values import dataclass

from .main import CommandError

EXTRA_WAIT_SECONDS = 60.0
"""Seconds to wait for the Host in addition to `plugins.start_seconds`: the old version may have runs to finish."""
POLL_SECONDS = 0.02
"""Seconds between two polls of the progress of the Host."""
STORED_DATA_NOTICE = (
    "what it stored in the database of a Host stays there; "
    "to delete that too, install it again and remove it through the page or API of that Host"
)

Seen = TypeVar("Seen")
PrintLine = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PluginCommandContext:
    """Everything that the plugin commands work on: settings, data directory and installer."""

    settings: HostSettings
    directory: DataDirectory
    installation: InstallServices

    @property
    def status(self) -> PluginStatusFile:
        return PluginStatusFile(self.directory.plugin_status)


def _open_context(settings: HostSettings) -> PluginCommandContext:
    if settings.runtime.url and not DataDirectory(settings.data).runtime_tokens.exists():
        raise CommandError(
            f"the plugins of this Host live in the plugin runtime at {settings.runtime.url}: "
            "use this command there, with --data and the runtime's data directory, or use the Host's page or API"
        )
    try:
        directory = DataDirectory(settings.data)
        return PluginCommandContext(settings, directory, open_install_services(settings, directory, SystemClock()))
    except DataDirectoryUnusable as error:
        raise CommandError(str(error)) from error


def install(
    settings: HostSettings, source: str, grant: str | None, upgrade: str | None, say: PrintLine = print
) -> None:
    """Installs a plugin and, if a Host runs, waits until it has started the plugin or failed to."""
    desk = _open_context(settings)
    try:
        installed, before, words = asyncio.run(_install(desk, source, grant, upgrade))
    except PluginError as error:
        raise CommandError(error.message) from error
    pid = desk.directory.serving_pid()
    served = pid is not None and _signal_host(pid)
    if pid is None or not served:
        desk.installation.folder.delete_unused()
    elif before is None:
        _wait_until_started(desk, installed, pid)
    elif before.enabled:
        _wait_until_upgraded(desk, installed, pid)
    for line in words:  # not earlier: a failure to start it is reported instead
        say(line)
    if served:
        enabled = before is None or before.enabled
        say("the running Host has started it" if enabled else "it is disabled, and starts when it is enabled")


async def _install(
    desk: PluginCommandContext, source: str, grant: str | None, upgrade: str | None
) -> tuple[InstalledVersion, PluginRecord | None, list[str]]:
    """Installs a plugin. Returns it, the record of the version before, and the lines to print."""
    installer = desk.installation.installer
    async with installer.package(source) as package:
        _granted(package, installer.installed_record(package, upgrade), grant)  # fails early, before anything is built
        said: list[str] = []
        await installer.build(package, said.append)
        before = installer.installed_record(
            package, upgrade
        )  # again: another version may have been installed during the build
        granted = _granted(package, before, grant)
        installed = await installer.add(package, granted)
    permissions = _permissions(grants.requested_permissions(package.plugin.manifest), granted)
    words = [
        f"installed {package.plugin_id} {package.version}",
        *(f"  note: {warning}" for warning in package.warnings),
        *(f"  note: {line}" for line in said if line.startswith(WITHOUT_SANDBOX)),
        *(f"  {sentence}" for sentence in permissions),
    ]
    return installed, before, words


def _granted(package: Package, before: PluginRecord | None, grant: str | None) -> dict[str, list[str]]:
    asked = grants.requested_permissions(package.plugin.manifest)
    if grant == "all" or (grant is None and before is None):
        return asked
    if grant is None and before is not None:
        return grants.intersect(before.current.granted, asked)
    return grants.parse_permissions(_items(grant or ""), asked)


def _items(grant: str) -> Sequence[str]:
    return () if grant == "none" else [item for item in grant.split(",") if item.strip()]


def _permissions(asked: grants.PermissionMap, granted: grants.PermissionMap) -> Iterator[str]:
    missing = grants.missing(granted, asked)
    for sentence in describe_permissions(grants.effective_permissions(granted, asked), sandboxed=True):
        yield f"it may {sentence.text}"
    for sentence in describe_permissions(grants.effective_permissions(missing, asked), sandboxed=True):
        yield f"it asks to {sentence.text}; that is not granted"
    if missing:
        yield f"grant it by installing again with --grant all, or --grant with a list of {_listed(asked)}"


def _listed(given: Mapping[str, Sequence[str]] | grants.PermissionMap) -> str:
    return ", ".join(f"{key}:{value}" for key, values in given.items() for value in values)


def _wait_until_started(desk: PluginCommandContext, plugin: InstalledVersion, pid: int) -> None:
    """Waits until the running Host has started the plugin. Raises CommandError if it does not."""
    status = _wait_for_install(
        desk, plugin.plugin_id, pid, lambda: desk.status.start_result(pid, plugin.plugin_id, plugin.stamp)
    )
    if status is None:
        raise CommandError(f"it is installed, and {_not_yet(desk, pid, 'started')}")
    if status.status != "ready":
        raise CommandError(f"it is installed, and the running Host can't start it: {status.reason}")


def _wait_until_upgraded(desk: PluginCommandContext, plugin: InstalledVersion, pid: int) -> None:
    folder = plugin.folder.name
    record = _wait_for_install(desk, plugin.plugin_id, pid, lambda: _finished_upgrade(desk, plugin.plugin_id))
    if record is None:
        raise CommandError(f"it is installed, and {_not_yet(desk, pid, 'taken')}")
    if record.current.folder != folder:
        if record.refused is None or record.refused.folder != folder:
            meanwhile = "since another version was installed meanwhile"
            raise CommandError(f"{plugin.plugin_id} {plugin.version} was not taken, {meanwhile}")
        state = desk.status.all(pid).get(plugin.plugin_id)
        stays = kept_version_text(record.current.version, state.status if state else "")
        raise CommandError(
            f"{plugin.plugin_id} {plugin.version} could not be started, and {stays}: {record.refused.reason}"
        )


def _not_yet(desk: PluginCommandContext, pid: int, done: str) -> str:
    if desk.directory.serving_pid() == pid:
        return f"the running Host has not {done} it yet; its log says why"
    return f"the Host ended before it had {done} it; it does so when it is started again"


def _signal_host(pid: int) -> bool:
    """Signals the Host to reread the plugins. Returns False if it has exited."""
    try:
        os.kill(pid, signal.SIGHUP)
    except ProcessLookupError:
        return False
    return True


def _finished_upgrade(desk: PluginCommandContext, plugin_id: str) -> PluginRecord | None:
    """Returns the plugin's record if the Host is done with the upgrade, else None.

    That is also the case if another version was installed before this one was tried.
    """
    record = desk.installation.folder.record(plugin_id)
    return None if record is None or record.candidate else record


def _wait_for_install(
    desk: PluginCommandContext, plugin_id: str, pid: int, look: Callable[[], Seen | None]
) -> Seen | None:
    """Waits for the result of an installation. Raises CommandError if the plugin is removed in the meantime."""

    def seen() -> Seen | None:
        record = desk.installation.folder.record(plugin_id)
        if record is None or (record.removing and not record.candidate):
            raise CommandError(f"{plugin_id} was removed meanwhile")
        return look()

    return _wait(desk, pid, seen)


def _wait(desk: PluginCommandContext, pid: int, look: Callable[[], Seen | None]) -> Seen | None:
    """Calls `look` until it returns a value, the time is over or that Host has exited."""
    until = time.monotonic() + desk.settings.plugins.start_seconds + EXTRA_WAIT_SECONDS
    while (seen := look()) is None and time.monotonic() < until and desk.directory.serving_pid() == pid:
        time.sleep(POLL_SECONDS)
    return seen if seen is not None else look()


def list_plugins(settings: HostSettings) -> None:
    """Prints the installed plugins with their states and permissions, one per line."""
    desk = _open_context(settings)
    folder = desk.installation.folder
    pid = desk.directory.serving_pid()
    told = desk.status.all(pid) if pid else {}
    for plugin_id, record in folder.records().items():
        version = record.candidate or record.current
        plugin = folder.load_plugin(folder.installed_version(plugin_id, version).folder)
        asked = grants.requested_permissions(plugin.manifest) if plugin else {}
        granted = _listed(grants.intersect(version.granted, asked))
        missing = _listed(grants.missing(version.granted, asked))
        notes = [
            _state(told[plugin_id]) if plugin_id in told else "",
            "" if record.enabled else "disabled",
            "about to be removed" if record.removing and not record.candidate else "",
            f"{record.current.version} until it has started" if record.candidate and not record.removing else "",
            str(record.refused) if record.refused else "",
            f"granted {granted}" if granted else "",
            f"not granted {missing}" if missing else "",
        ]
        print(f"{plugin_id} {version.version}  {'; '.join(note for note in notes if note)}".rstrip())
    for plugin_id, unusable in folder.unusable().items():
        print(" ".join(filter(None, (plugin_id, unusable.version))) + f"  failed: {unusable.reason}")


def _state(told: PluginStatus) -> str:
    return f"{told.status}: {told.reason}" if told.reason else told.status


def remove(settings: HostSettings, plugin_id: str, delete_data: bool) -> None:
    """Removes a plugin: by the running Host if there is one, otherwise directly."""
    wish: RemovalMode = "delete" if delete_data else "keep"
    desk = _open_context(settings)
    folder = desk.installation.folder
    if plugin_id not in folder.records() and plugin_id not in folder.unusable():
        raise CommandError(f"no plugin '{plugin_id}' is installed; 'parlour plugin list' shows them")
    try:
        with disk_errors.translate_os_errors(f"{plugin_id} can't be marked as removed"):
            folder.mark_for_removal(plugin_id, wish)
        if not _wait_until_removed(desk, plugin_id):
            asyncio.run(_remove_directly(desk, plugin_id, wish))
    except PluginError as problem:
        raise CommandError(problem.message) from problem
    print(f"removed {plugin_id}" + (" and its data" if wish == "delete" else "; its data is kept"))
    if wish == "delete" and desk.directory.runtime_tokens.exists():
        print(STORED_DATA_NOTICE)


def _wait_until_removed(desk: PluginCommandContext, plugin_id: str) -> bool:
    """Waits until the running Host has removed the plugin. Returns False if no Host runs or it exits before that."""
    pid = desk.directory.serving_pid()
    if pid is None or not _signal_host(pid):
        return False
    ended = _wait(desk, pid, lambda: _is_removed(desk, plugin_id))
    if not ended and desk.directory.serving_pid() == pid:
        raise CommandError("the running Host has not ended it yet; it will, and its log says how far it is")
    return bool(ended)


def _is_removed(desk: PluginCommandContext, plugin_id: str) -> bool | None:
    """Returns True if the removal is finished, else None. A plugin that was installed again counts as removed."""
    record = desk.installation.folder.record(plugin_id)
    return True if record is None or not record.removing else None


async def _remove_directly(desk: PluginCommandContext, plugin_id: str, wish: RemovalMode) -> None:
    if wish == "delete":
        await _delete_stored_data(desk, plugin_id)
        delete_data(desk.directory.plugin_data, plugin_id)
    desk.installation.folder.delete(plugin_id, wish)
    desk.installation.folder.delete_unused()


async def _delete_stored_data(desk: PluginCommandContext, plugin_id: str) -> None:
    url, file = desk.settings.database.url.get_secret_value(), desk.directory.database
    try:
        if await current_revision(url, file) is None:
            return  # no Host has used this data directory yet
        async with open_journal(url, file) as journal:
            await Storage(journal, SystemClock()).delete_plugin_data(plugin_id)
    except StorageFailed as error:
        raise CommandError(
            f"{plugin_id} is not removed yet, since what it stored can't be deleted: {error.message} "
            "Then repeat this command, or start the Host, which ends it."
        ) from error
