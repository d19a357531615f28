"""`parlour plugin install`, `list` and `remove`: work on the data directory and signal a running Host to apply it."""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from parlour.app.data_directory import DataDirectory, DataDirectoryUnusable
from parlour.app.installation import Installation, open_installation
from parlour.app.settings import Settings
from parlour.core.access.permission_text import in_words
from parlour.core.journal import StorageFailed
from parlour.core.model.plugin_manager import PluginProblem
from parlour.core.store.storage import Storage
from parlour.core.system import SystemClock
from parlour.plugin_runtime import disk_errors
from parlour.plugin_runtime import permissions as grants
from parlour.plugin_runtime.environments.environment import WITHOUT_SANDBOX
from parlour.plugin_runtime.packages.sources import Package
from parlour.plugin_runtime.plugin_data import delete_data
from parlour.plugin_runtime.records import Record, Wish
from parlour.plugin_runtime.store import Installed
from parlour.plugin_runtime.supervision.status import PluginStatus, StatusFile
from parlour.plugin_runtime.views import staying
from parlour.stores.factory import current, opened
from parlour_sdk.values import dataclass

from .main import CommandFailed

PATIENCE_SECONDS = 60.0
"""Seconds to wait for the Host in addition to `plugins.start_seconds`: the old version may have runs to finish."""
POLL_SECONDS = 0.02
"""Seconds between two polls of the progress of the Host."""
IN_A_HOST = (
    "what it stored in the database of a Host stays there; "
    "to delete that too, install it again and remove it through the page or API of that Host"
)

Seen = TypeVar("Seen")
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything that the plugin commands work on: settings, data directory and installer."""

    settings: Settings
    directory: DataDirectory
    installation: Installation

    @property
    def status(self) -> StatusFile:
        return StatusFile(self.directory.plugin_status)


def _desk(settings: Settings) -> Desk:
    if settings.runtime.url and not DataDirectory(settings.data).runtime_tokens.exists():
        raise CommandFailed(
            f"the plugins of this Host live in the plugin runtime at {settings.runtime.url}: "
            "use this command there, with --data and the runtime's data directory, or use the Host's page or API"
        )
    try:
        directory = DataDirectory(settings.data)
        return Desk(settings, directory, open_installation(settings, directory, SystemClock()))
    except DataDirectoryUnusable as error:
        raise CommandFailed(str(error)) from error


def install(settings: Settings, source: str, grant: str | None, upgrade: str | None, say: Say = print) -> None:
    """Installs a plugin and, if a Host runs, waits until it has started the plugin or failed to."""
    desk = _desk(settings)
    try:
        installed, before, words = asyncio.run(_install(desk, source, grant, upgrade))
    except PluginProblem as error:
        raise CommandFailed(error.message) from error
    pid = desk.directory.serving_pid()
    served = pid is not None and _told(pid)
    if pid is None or not served:
        desk.installation.folder.sweep()
    elif before is None:
        _hand_over(desk, installed, pid)
    elif before.enabled:
        _hand_over_upgrade(desk, installed, pid)
    for line in words:  # not earlier: a failure to start it is reported instead
        say(line)
    if served:
        enabled = before is None or before.enabled
        say("the running Host has started it" if enabled else "it is disabled, and starts when it is enabled")


async def _install(
    desk: Desk, source: str, grant: str | None, upgrade: str | None
) -> tuple[Installed, Record | None, list[str]]:
    """Installs a plugin. Returns it, the record of the version before, and the lines to print."""
    installer = desk.installation.installer
    async with installer.package(source) as package:
        _granted(package, installer.before(package, upgrade), grant)  # fails early, before anything is built
        said: list[str] = []
        await installer.build(package, said.append)
        before = installer.before(package, upgrade)  # again: another version may have been installed during the build
        granted = _granted(package, before, grant)
        installed = await installer.add(package, granted)
    permissions = _permissions(grants.asked(package.plugin.manifest), granted)
    words = [
        f"installed {package.plugin_id} {package.version}",
        *(f"  note: {warning}" for warning in package.warnings),
        *(f"  note: {line}" for line in said if line.startswith(WITHOUT_SANDBOX)),
        *(f"  {sentence}" for sentence in permissions),
    ]
    return installed, before, words


def _granted(package: Package, before: Record | None, grant: str | None) -> dict[str, list[str]]:
    asked = grants.asked(package.plugin.manifest)
    if grant == "all" or (grant is None and before is None):
        return asked
    if grant is None and before is not None:
        return grants.common(before.current.granted, asked)
    return grants.chosen(_items(grant or ""), asked)


def _items(grant: str) -> Sequence[str]:
    return () if grant == "none" else [item for item in grant.split(",") if item.strip()]


def _permissions(asked: grants.Grants, granted: grants.Grants) -> Iterator[str]:
    missing = grants.missing(granted, asked)
    for sentence in in_words(grants.permissions(granted, asked), sandboxed=True):
        yield f"it may {sentence.text}"
    for sentence in in_words(grants.permissions(missing, asked), sandboxed=True):
        yield f"it asks to {sentence.text}; that is not granted"
    if missing:
        yield f"grant it by installing again with --grant all, or --grant with a list of {_listed(asked)}"


def _listed(given: Mapping[str, Sequence[str]] | grants.Grants) -> str:
    return ", ".join(f"{key}:{value}" for key, values in given.items() for value in values)


def _hand_over(desk: Desk, plugin: Installed, pid: int) -> None:
    """Waits until the running Host has started the plugin. Raises CommandError if it does not."""
    status = _watch(desk, plugin.plugin_id, pid, lambda: desk.status.settled(pid, plugin.plugin_id, plugin.stamp))
    if status is None:
        raise CommandFailed(f"it is installed, and {_not_yet(desk, pid, 'started')}")
    if status.status != "ready":
        raise CommandFailed(f"it is installed, and the running Host can't start it: {status.reason}")


def _hand_over_upgrade(desk: Desk, plugin: Installed, pid: int) -> None:
    folder = plugin.folder.name
    record = _watch(desk, plugin.plugin_id, pid, lambda: _settled(desk, plugin.plugin_id))
    if record is None:
        raise CommandFailed(f"it is installed, and {_not_yet(desk, pid, 'taken')}")
    if record.current.folder != folder:
        if record.refused is None or record.refused.folder != folder:
            meanwhile = "since another version was installed meanwhile"
            raise CommandFailed(f"{plugin.plugin_id} {plugin.version} was not taken, {meanwhile}")
        state = desk.status.all(pid).get(plugin.plugin_id)
        stays = staying(record.current.version, state.status if state else "")
        raise CommandFailed(
            f"{plugin.plugin_id} {plugin.version} could not be started, and {stays}: {record.refused.reason}"
        )


def _not_yet(desk: Desk, pid: int, done: str) -> str:
    if desk.directory.serving_pid() == pid:
        return f"the running Host has not {done} it yet; its log says why"
    return f"the Host ended before it had {done} it; it does so when it is started again"


def _told(pid: int) -> bool:
    """Signals the Host to reread the plugins. Returns False if it has exited."""
    try:
        os.kill(pid, signal.SIGHUP)
    except ProcessLookupError:
        return False
    return True


def _settled(desk: Desk, plugin_id: str) -> Record | None:
    """Returns the plugin's record if the Host is done with the upgrade, else None.

    That is also the case if another version was installed before this one was tried.
    """
    record = desk.installation.folder.record(plugin_id)
    return None if record is None or record.candidate else record


def _watch(desk: Desk, plugin_id: str, pid: int, look: Callable[[], Seen | None]) -> Seen | None:
    """Waits for the result of an installation. Raises CommandError if the plugin is removed in the meantime."""

    def seen() -> Seen | None:
        record = desk.installation.folder.record(plugin_id)
        if record is None or (record.removing and not record.candidate):
            raise CommandFailed(f"{plugin_id} was removed meanwhile")
        return look()

    return _wait(desk, pid, seen)


def _wait(desk: Desk, pid: int, look: Callable[[], Seen | None]) -> Seen | None:
    """Calls `look` until it returns a value, the time is over or that Host has exited."""
    until = time.monotonic() + desk.settings.plugins.start_seconds + PATIENCE_SECONDS
    while (seen := look()) is None and time.monotonic() < until and desk.directory.serving_pid() == pid:
        time.sleep(POLL_SECONDS)
    return seen if seen is not None else look()


def show(settings: Settings) -> None:
    """Prints the installed plugins with their states and permissions, one per line."""
    desk = _desk(settings)
    folder = desk.installation.folder
    pid = desk.directory.serving_pid()
    told = desk.status.all(pid) if pid else {}
    for plugin_id, record in folder.records().items():
        version = record.candidate or record.current
        plugin = folder.plugin(folder.version(plugin_id, version).folder)
        asked = grants.asked(plugin.manifest) if plugin else {}
        granted = _listed(grants.common(version.granted, asked))
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


def remove(settings: Settings, plugin_id: str, wish: Wish) -> None:
    """Removes a plugin: by the running Host if there is one, otherwise directly."""
    desk = _desk(settings)
    folder = desk.installation.folder
    if plugin_id not in folder.records() and plugin_id not in folder.unusable():
        raise CommandFailed(f"no plugin '{plugin_id}' is installed; 'parlour plugin list' shows them")
    try:
        with disk_errors.in_words(f"{plugin_id} can't be marked as removed"):
            folder.give_up(plugin_id, wish)
        if not _ended_by_host(desk, plugin_id):
            asyncio.run(_end(desk, plugin_id, wish))
    except PluginProblem as problem:
        raise CommandFailed(problem.message) from problem
    print(f"removed {plugin_id}" + (" and its data" if wish == "delete" else "; its data is kept"))
    if wish == "delete" and desk.directory.runtime_tokens.exists():
        print(IN_A_HOST)


def _ended_by_host(desk: Desk, plugin_id: str) -> bool:
    """Waits until the running Host has removed the plugin. Returns False if no Host runs or it exits before that."""
    pid = desk.directory.serving_pid()
    if pid is None or not _told(pid):
        return False
    ended = _wait(desk, pid, lambda: _ended(desk, plugin_id))
    if not ended and desk.directory.serving_pid() == pid:
        raise CommandFailed("the running Host has not ended it yet; it will, and its log says how far it is")
    return bool(ended)


def _ended(desk: Desk, plugin_id: str) -> bool | None:
    """Returns True if the removal is finished, else None. A plugin that was installed again counts as removed."""
    record = desk.installation.folder.record(plugin_id)
    return True if record is None or not record.removing else None


async def _end(desk: Desk, plugin_id: str, wish: Wish) -> None:
    if wish == "delete":
        await _forget_stored(desk, plugin_id)
        delete_data(desk.directory.plugin_data, plugin_id)
    desk.installation.folder.forget(plugin_id, wish)
    desk.installation.folder.sweep()


async def _forget_stored(desk: Desk, plugin_id: str) -> None:
    url, file = desk.settings.database.url.get_secret_value(), desk.directory.database
    try:
        if await current(url, file) is None:
            return  # no Host has used this data directory yet
        async with opened(url, file) as journal:
            await Storage(journal, SystemClock()).forget(plugin_id)
    except StorageFailed as error:
        raise CommandFailed(
            f"{plugin_id} is not removed yet, since what it stored can't be deleted: {error.message} "
            "Then repeat this command, or start the Host, which ends it."
        ) from error
