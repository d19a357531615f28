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
from parlour.core.model.ids import PluginId
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
from parlour.plugin_runtime.views import current_version_text
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
    context = _open_context(settings)
    try:
        installed, previous, lines = asyncio.run(_install(context, source, grant, upgrade))
    except PluginError as error:
        raise CommandError(error.message) from error
    pid = context.directory.serving_pid()
    served = pid is not None and _signal_host(pid)
    if pid is None or not served:
        context.installation.folder.delete_unused()
    elif previous is None:
        _wait_until_started(context, installed, pid)
    elif previous.enabled:
        _wait_until_upgraded(context, installed, pid)
    for line in lines:  # not earlier: a failure to start it is reported instead
        say(line)
    if served:
        enabled = previous is None or previous.enabled
        say("the running Host has started it" if enabled else "it is disabled, and starts when it is enabled")


async def _install(
    context: PluginCommandContext, source: str, grant: str | None, upgrade: str | None
) -> tuple[InstalledVersion, PluginRecord | None, list[str]]:
    """Installs a plugin. Returns it, the record of the version before, and the lines to print."""
    installer = context.installation.installer
    async with installer.package(source) as package:
        _permissions_to_grant(
            package, installer.installed_record(package, upgrade), grant
        )  # fails early, before anything is built
        output: list[str] = []
        await installer.build(package, output.append)
        previous = installer.installed_record(
            package, upgrade
        )  # again: another version may have been installed during the build
        granted = _permissions_to_grant(package, previous, grant)
        installed = await installer.add(package, granted)
    permissions = _permissions(grants.requested_permissions(package.plugin.manifest), granted)
    lines = [
        f"installed {package.plugin_id} {package.version}",
        *(f"  note: {warning}" for warning in package.warnings),
        *(f"  note: {line}" for line in output if line.startswith(WITHOUT_SANDBOX)),
        *(f"  {sentence}" for sentence in permissions),
    ]
    return installed, previous, lines


def _permissions_to_grant(package: Package, previous: PluginRecord | None, grant: str | None) -> dict[str, list[str]]:
    requested = grants.requested_permissions(package.plugin.manifest)
    if grant == "all" or (grant is None and previous is None):
        return requested
    if grant is None and previous is not None:
        return grants.intersect(previous.current.granted, requested)
    return grants.parse_permissions(_items(grant or ""), requested)


def _items(grant: str) -> Sequence[str]:
    return () if grant == "none" else [item for item in grant.split(",") if item.strip()]


def _permissions(requested: grants.PermissionMap, granted: grants.PermissionMap) -> Iterator[str]:
    missing = grants.missing(granted, requested)
    for sentence in describe_permissions(grants.effective_permissions(granted, requested), sandboxed=True):
        yield f"it may {sentence.text}"
    for sentence in describe_permissions(grants.effective_permissions(missing, requested), sandboxed=True):
        yield f"it asks to {sentence.text}; that is not granted"
    if missing:
        yield f"grant it by installing again with --grant all, or --grant with a list of {_permission_list(requested)}"


def _permission_list(permissions: Mapping[str, Sequence[str]] | grants.PermissionMap) -> str:
    return ", ".join(f"{key}:{value}" for key, values in permissions.items() for value in values)


def _wait_until_started(context: PluginCommandContext, plugin: InstalledVersion, pid: int) -> None:
    """Waits until the running Host has started the plugin. Raises CommandError if it does not."""
    status = _wait_for_install(
        context, plugin.plugin_id, pid, lambda: context.status.start_result(pid, plugin.plugin_id, plugin.stamp)
    )
    if status is None:
        raise CommandError(f"it is installed, and {_not_yet(context, pid, 'started')}")
    if status.status != "ready":
        raise CommandError(f"it is installed, and the running Host can't start it: {status.reason}")


def _wait_until_upgraded(context: PluginCommandContext, plugin: InstalledVersion, pid: int) -> None:
    folder = plugin.folder.name
    record = _wait_for_install(context, plugin.plugin_id, pid, lambda: _finished_upgrade(context, plugin.plugin_id))
    if record is None:
        raise CommandError(f"it is installed, and {_not_yet(context, pid, 'taken')}")
    if record.current.folder != folder:
        if record.refused is None or record.refused.folder != folder:
            reason = "since another version was installed meanwhile"
            raise CommandError(f"{plugin.plugin_id} {plugin.version} was not taken, {reason}")
        state = context.status.all(pid).get(plugin.plugin_id)
        current_text = current_version_text(record.current.version, state.status if state else "")
        raise CommandError(
            f"{plugin.plugin_id} {plugin.version} could not be started, and {current_text}: {record.refused.reason}"
        )


def _not_yet(context: PluginCommandContext, pid: int, action: str) -> str:
    if context.directory.serving_pid() == pid:
        return f"the running Host has not {action} it yet; its log says why"
    return f"the Host ended before it had {action} it; it does so when it is started again"


def _signal_host(pid: int) -> bool:
    """Signals the Host to reread the plugins. Returns False if it has exited."""
    try:
        os.kill(pid, signal.SIGHUP)
    except ProcessLookupError:
        return False
    return True


def _finished_upgrade(context: PluginCommandContext, plugin_id: PluginId) -> PluginRecord | None:
    """Returns the plugin's record if the Host is done with the upgrade, else None.

    That is also the case if another version was installed before this one was tried.
    """
    record = context.installation.folder.record(plugin_id)
    return None if record is None or record.candidate else record


def _wait_for_install(
    context: PluginCommandContext, plugin_id: PluginId, pid: int, check: Callable[[], Seen | None]
) -> Seen | None:
    """Waits for the result of an installation. Raises CommandError if the plugin is removed in the meantime."""

    def check_installed() -> Seen | None:
        record = context.installation.folder.record(plugin_id)
        if record is None or (record.removing and not record.candidate):
            raise CommandError(f"{plugin_id} was removed meanwhile")
        return check()

    return _wait(context, pid, check_installed)


def _wait(context: PluginCommandContext, pid: int, check: Callable[[], Seen | None]) -> Seen | None:
    """Calls `check` until it returns a value, the time is over or that Host has exited."""
    deadline = time.monotonic() + context.settings.plugins.start_seconds + EXTRA_WAIT_SECONDS
    while (result := check()) is None and time.monotonic() < deadline and context.directory.serving_pid() == pid:
        time.sleep(POLL_SECONDS)
    return result if result is not None else check()


def list_plugins(settings: HostSettings) -> None:
    """Prints the installed plugins with their states and permissions, one per line."""
    context = _open_context(settings)
    folder = context.installation.folder
    pid = context.directory.serving_pid()
    statuses = context.status.all(pid) if pid else {}
    for plugin_id, record in folder.records().items():
        version = record.candidate or record.current
        plugin = folder.load_plugin(folder.installed_version(plugin_id, version).folder)
        requested = grants.requested_permissions(plugin.manifest) if plugin else {}
        granted = _permission_list(grants.intersect(version.granted, requested))
        missing = _permission_list(grants.missing(version.granted, requested))
        notes = [
            _state(statuses[plugin_id]) if plugin_id in statuses else "",
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


def _state(status: PluginStatus) -> str:
    return f"{status.status}: {status.reason}" if status.reason else status.status


def remove(settings: HostSettings, plugin_id: PluginId, delete_data: bool) -> None:
    """Removes a plugin: by the running Host if there is one, otherwise directly."""
    mode: RemovalMode = "delete" if delete_data else "keep"
    context = _open_context(settings)
    folder = context.installation.folder
    if plugin_id not in folder.records() and plugin_id not in folder.unusable():
        raise CommandError(f"no plugin '{plugin_id}' is installed; 'parlour plugin list' shows them")
    try:
        with disk_errors.translate_os_errors(f"{plugin_id} can't be marked as removed"):
            folder.mark_for_removal(plugin_id, mode)
        if not _wait_until_removed(context, plugin_id):
            asyncio.run(_remove_directly(context, plugin_id, mode))
    except PluginError as problem:
        raise CommandError(problem.message) from problem
    print(f"removed {plugin_id}" + (" and its data" if mode == "delete" else "; its data is kept"))
    if mode == "delete" and context.directory.runtime_tokens.exists():
        print(STORED_DATA_NOTICE)


def _wait_until_removed(context: PluginCommandContext, plugin_id: PluginId) -> bool:
    """Waits until the running Host has removed the plugin. Returns False if no Host runs or it exits before that."""
    pid = context.directory.serving_pid()
    if pid is None or not _signal_host(pid):
        return False
    removed = _wait(context, pid, lambda: _is_removed(context, plugin_id))
    if not removed and context.directory.serving_pid() == pid:
        raise CommandError("the running Host has not ended it yet; it will, and its log says how far it is")
    return bool(removed)


def _is_removed(context: PluginCommandContext, plugin_id: PluginId) -> bool | None:
    """Returns True if the removal is finished, else None. A plugin that was installed again counts as removed."""
    record = context.installation.folder.record(plugin_id)
    return True if record is None or not record.removing else None


async def _remove_directly(context: PluginCommandContext, plugin_id: PluginId, mode: RemovalMode) -> None:
    if mode == "delete":
        await _delete_stored_data(context, plugin_id)
        delete_data(context.directory.plugin_data, plugin_id)
    context.installation.folder.delete(plugin_id, mode)
    context.installation.folder.delete_unused()


async def _delete_stored_data(context: PluginCommandContext, plugin_id: PluginId) -> None:
    url, file = context.settings.database.url.get_secret_value(), context.directory.database
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
