"""Stores installed plugins below the data directory: a record each, and beside it the code of the versions it names.

The code of a version never changes; an installation replaces the record. So the running version keeps its files until
another has replaced it. Changes wait for the disk, so a server makes them in a thread.
"""

import contextlib
import glob
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path

from parlour.core.model.ids import PluginId
from parlour.file_locks import lock_file, try_lock_file
from parlour_sdk.plugin import PluginDefinition, PluginInvalid, read_plugin
from parlour_sdk.protocol.manifest import PluginLimits, PluginPermissions
from parlour_sdk.values import dataclass

from . import permissions, records
from .packages.file_tree import delete
from .records import (
    UNKNOWN_VERSION,
    InstallFailure,
    PluginRecord,
    RecordUnreadable,
    RejectedVersion,
    RemovalMode,
    Version,
)

RECORD_FILE = "record.json"
FAILURE_FILE = "failure.json"
STAGING_LOCK_FILE = ".lock"
MAX_NAME_CHARACTERS = 100
MAX_NAME_BYTES = 200
"""A file name may have 255 bytes, and some file names are made from a plugin's name."""


@dataclass(frozen=True, slots=True)
class InstalledVersion:
    """A version of a plugin that is ready to be started."""

    plugin_id: PluginId
    version: str
    folder: Path
    stamp: int
    """Differs between installations."""
    granted: PluginPermissions = field(default_factory=PluginPermissions)
    """Permissions that it asks for and was granted."""
    limits: PluginLimits = field(default_factory=PluginLimits)


@dataclass(frozen=True, slots=True)
class UnusablePlugin:
    """A plugin that can't run: its record is damaged, or no version of it was ever installed."""

    reason: str
    version: str = ""
    source: str = ""
    sha256: str = ""


class PluginStore:
    """Reads and changes the records and the code of installed plugins."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._loaded_plugins: dict[Path, PluginDefinition] = {}

    def records(self) -> dict[PluginId, PluginRecord]:
        """Returns the records of all installed plugins, including disabled ones and those being removed."""
        return {plugin_id: each for plugin_id, each in self._all().items() if isinstance(each, PluginRecord)}

    def unusable(self) -> dict[PluginId, UnusablePlugin]:
        """Returns all plugins that are there but can't run as they are."""
        return {plugin_id: each for plugin_id, each in self._all().items() if isinstance(each, UnusablePlugin)}

    def _all(self) -> dict[PluginId, PluginRecord | UnusablePlugin]:
        plugins: dict[PluginId, PluginRecord | UnusablePlugin] = {}
        for file in self._files(RECORD_FILE):
            plugin_id = PluginId(f"{file.parent.parent.name}/{file.parent.name}")
            try:
                record = records.read(file)
            except RecordUnreadable as error:
                plugins[plugin_id] = UnusablePlugin(str(error))
            else:
                if record is not None:
                    plugins[plugin_id] = record
        for file in self._files(FAILURE_FILE):
            plugin_id = PluginId(f"{file.parent.parent.name}/{file.parent.name}")
            failure = None if plugin_id in plugins else records.read_failure(file)
            if failure is not None:
                plugins[plugin_id] = UnusablePlugin(failure.reason, failure.version, failure.source, failure.sha256)
        return plugins

    def _files(self, name: str) -> list[Path]:
        """Returns the files of this name in the folders of all plugins. A folder may be removed at the same time.
        Hidden ones, in which plugins are prepared, are left out.
        """
        return [self._root / found for found in sorted(glob.glob(f"*/*/{name}", root_dir=self._root))]

    def all_desired(self) -> dict[PluginId, InstalledVersion]:
        """Returns the version of each plugin that should run."""
        return {
            plugin_id: self.installed_version(plugin_id, record.current)
            for plugin_id, record in self.records().items()
            if record.enabled and not record.removing
        }

    def desired(self, plugin_id: PluginId, record: PluginRecord | None) -> InstalledVersion | None:
        """Returns the version of this plugin that should run according to this record, or None."""
        runs = record is not None and record.enabled and not record.removing
        return self.installed_version(plugin_id, record.current) if record is not None and runs else None

    def installed_version(self, plugin_id: PluginId, version: Version) -> InstalledVersion:
        folder = self._home(plugin_id) / version.folder
        stamp = version.installed_at
        plugin = self.load_plugin(folder)
        if plugin is None:
            return InstalledVersion(plugin_id, version.version, folder, stamp)
        granted = permissions.effective_permissions(version.granted, permissions.requested_permissions(plugin.manifest))
        return InstalledVersion(plugin_id, version.version, folder, stamp, granted, plugin.manifest.spec.limits)

    def load_plugin(self, folder: Path) -> PluginDefinition | None:
        """Returns the plugin in this folder, or None if its files were damaged after the installation.

        The error itself is reported by the plugin's process.
        """
        if folder not in self._loaded_plugins:
            try:
                self._loaded_plugins[folder] = read_plugin(folder)
            except PluginInvalid:
                return None
        return self._loaded_plugins[folder]

    @contextlib.contextmanager
    def staging(self) -> Iterator[Path]:
        """Yields a folder to prepare a version in and deletes it afterwards.

        A folder that a killed process has left is deleted with other unused code.
        """
        parent = self._root / ".staging"
        with self._lock():
            parent.mkdir(exist_ok=True)
            folder = Path(tempfile.mkdtemp(dir=parent))
            lock_descriptor = os.open(folder / STAGING_LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
            lock_file(lock_descriptor)
        try:
            yield folder
        finally:
            os.close(lock_descriptor)
            delete(folder)
            with self._lock(), contextlib.suppress(OSError):  # another installation stages there too
                parent.rmdir()

    def add(self, plugin_id: PluginId, code: Path, version: Version) -> Version:
        """Moves the code to its place and records it: as the current version of a new plugin, else as a candidate."""
        home = self._home(plugin_id)
        with self._lock():
            home.mkdir(parents=True, exist_ok=True)
            previous = _read_or_none(home / RECORD_FILE)
            version = version.model_copy(update={"folder": _folder_name(version.version)})
            os.rename(code, home / version.folder)
            try:
                records.write(
                    home / RECORD_FILE, previous.with_version(version) if previous else PluginRecord(current=version)
                )
            except OSError:
                delete(home / version.folder)
                raise
            (home / FAILURE_FILE).unlink(missing_ok=True)
        return version

    def record_failure(self, plugin_id: PluginId, failure: InstallFailure) -> None:
        """Records why a version could not be installed, in the record of the one that stays or in a file of its own."""
        with self._lock():
            home = self._home(plugin_id)
            record = _read_or_none(home / RECORD_FILE)
            if record is not None:
                refusal = RejectedVersion(version=failure.version, folder="", reason=failure.reason, at=failure.at)
                records.write(home / RECORD_FILE, record.model_copy(update={"refused": refusal}))
            elif not (home / RECORD_FILE).exists():
                home.mkdir(parents=True, exist_ok=True)
                records.write(home / FAILURE_FILE, failure)

    def edit(self, plugin_id: PluginId, change: Callable[[PluginRecord], PluginRecord]) -> PluginRecord | None:
        """Changes a record and returns it, or None if there is no readable one."""
        with self._lock():
            file = self._home(plugin_id) / RECORD_FILE
            record = _read_or_none(file)
            if record is None:
                return None
            changed = change(record)
            if changed != record:
                records.write(file, changed)
            return changed

    def record(self, plugin_id: PluginId) -> PluginRecord | None:
        """Returns the record. A damaged one counts as none, since reinstalling is the way to repair it."""
        return _read_or_none(self._home(plugin_id) / RECORD_FILE)

    def mark_for_removal(self, plugin_id: PluginId, mode: RemovalMode) -> bool:
        """Marks a plugin as removed and records what happens to its data.

        Returns False if it does not exist. A Host ends its process.
        """
        with self._lock():
            file = self._home(plugin_id) / RECORD_FILE
            record = _read_or_none(file)
            if record is None and not file.exists() and not file.with_name(FAILURE_FILE).exists():
                return False
            given_up = {"removing": mode, "candidate": None}
            records.write(file, (record or PluginRecord(current=UNKNOWN_VERSION)).model_copy(update=given_up))
            return True

    def delete(self, plugin_id: PluginId, mode: RemovalMode) -> None:
        """Deletes the record after the data was treated as `mode` says.

        A version that was installed in its place by now stays.
        """
        with self._lock():
            file = self._home(plugin_id) / RECORD_FILE
            record = _read_or_none(file)
            if record is None or record.removing != mode:
                return
            if (remaining := record.after_removal()) is not None:
                records.write(file, remaining)
                return
            for each in (file.with_name(FAILURE_FILE), file):
                each.unlink(missing_ok=True)

    def delete_unused(self, in_use: frozenset[Path] = frozenset()) -> None:
        """Deletes code that no record names and no process uses.

        Folder names are never reused, so the deletion needs no lock.
        """
        with self._lock():
            unused = [*self._unused(in_use)]
        for folder in unused:
            self._loaded_plugins.pop(folder, None)
            delete(folder)
        with self._lock():
            for home in self._root.glob("*/*"):
                if home.parent.name != ".staging" and not (home / RECORD_FILE).exists():
                    with contextlib.suppress(OSError):  # something of it is still in use
                        home.rmdir()
                        home.parent.rmdir()

    def _unused(self, in_use: frozenset[Path]) -> Iterator[Path]:
        for home in self._root.glob("*/*"):
            if home.parent.name == ".staging":
                if _is_abandoned(home):
                    yield home
            elif home.is_dir():
                with contextlib.suppress(RecordUnreadable):
                    record = records.read(home / RECORD_FILE)
                    used_folders = {version.folder for version in record.versions()} if record else set()
                    yield from (
                        folder
                        for folder in home.iterdir()
                        if folder.is_dir() and folder.name not in used_folders and folder not in in_use
                    )

    def _home(self, plugin_id: PluginId) -> Path:
        author, _, name = plugin_id.partition("/")
        return self._root / require_safe_name(author) / require_safe_name(name)

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        """Holds a lock between processes: a command line and a Host may change records at the same time."""
        self._root.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._root / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            lock_file(descriptor)
            yield
        finally:
            os.close(descriptor)


def require_safe_name(part: str) -> str:
    """Returns one half of an identity, which is also a folder's name. Raises PluginInvalid if it can't be one."""
    allowed = all(each.isalnum() or each in "-_." for each in part)
    short = len(part) <= MAX_NAME_CHARACTERS and len(part.encode()) <= MAX_NAME_BYTES
    if not part or part.startswith(".") or not short or not allowed:
        raise PluginInvalid(
            f"'{part}' can't be part of a plugin's identity; use letters, digits, '-', '_' and '.', "
            f"at most {MAX_NAME_CHARACTERS} and {MAX_NAME_BYTES} bytes"
        )
    return part


def _read_or_none(file: Path) -> PluginRecord | None:
    try:
        return records.read(file)
    except RecordUnreadable:
        return None


def _folder_name(version: str) -> str:
    """Returns a folder name that is readable in a list of processes and was never used before."""
    readable = "".join(each if each.isascii() and (each.isalnum() or each in ".+-") else "_" for each in version)
    return f"{readable[:40].lstrip('.') or '0'}-{secrets.token_hex(4)}"


def _is_abandoned(staging: Path) -> bool:
    """Returns whether no process uses the staging folder: one that does holds its lock until it exits."""
    with contextlib.suppress(OSError):
        descriptor = os.open(staging / STAGING_LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            return try_lock_file(descriptor)
        finally:
            os.close(descriptor)
    return False
