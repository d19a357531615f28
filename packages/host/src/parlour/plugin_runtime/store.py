"""Stores installed plugins below the data directory: a record each, and beside it the code of the versions it names.

The code of a version never changes; an installation replaces the record. So the running version keeps its files until
another has replaced it. Changes wait for the disk, so a server makes them in a thread.
"""

import contextlib
import fcntl
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path

from parlour_sdk.plugin import Plugin, PluginInvalid, read_plugin
from parlour_sdk.protocol.manifest import PluginLimits, PluginPermissions
from parlour_sdk.values import dataclass

from . import permissions, records
from .packages.file_tree import delete
from .records import NO_VERSION, Failure, Record, RecordUnreadable, Refusal, Version, Wish

RECORD = "record.json"
FAILURE = "failure.json"
STAGED = ".lock"
NAME_CHARACTERS = 100
NAME_BYTES = 200
"""A file name may have 255 bytes, and some file names are made from a plugin's name."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A version of a plugin that is ready to be started."""

    plugin_id: str
    version: str
    folder: Path
    stamp: int
    """Differs between installations."""
    granted: PluginPermissions = field(default_factory=PluginPermissions)
    """Permissions that it asks for and was granted."""
    limits: PluginLimits = field(default_factory=PluginLimits)


@dataclass(frozen=True, slots=True)
class Unusable:
    """A plugin that can't run: its record is damaged, or no version of it was ever installed."""

    reason: str
    version: str = ""
    source: str = ""
    sha256: str = ""


class PluginFolder:
    """Reads and changes the records and the code of installed plugins."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: dict[Path, Plugin] = {}

    def records(self) -> dict[str, Record]:
        """Returns the records of all installed plugins, including disabled ones and those being removed."""
        return {plugin_id: each for plugin_id, each in self._all().items() if isinstance(each, Record)}

    def unusable(self) -> dict[str, Unusable]:
        """Returns all plugins that are there but can't run as they are."""
        return {plugin_id: each for plugin_id, each in self._all().items() if isinstance(each, Unusable)}

    def _all(self) -> dict[str, Record | Unusable]:
        found: dict[str, Record | Unusable] = {}
        for file in sorted(self._root.glob(f"*/*/{RECORD}")):
            plugin_id = f"{file.parent.parent.name}/{file.parent.name}"
            try:
                record = records.read(file)
            except RecordUnreadable as error:
                found[plugin_id] = Unusable(str(error))
            else:
                if record is not None:
                    found[plugin_id] = record
        for file in sorted(self._root.glob(f"*/*/{FAILURE}")):
            plugin_id = f"{file.parent.parent.name}/{file.parent.name}"
            failure = None if plugin_id in found else records.read_failure(file)
            if failure is not None:
                found[plugin_id] = Unusable(failure.reason, failure.version, failure.source, failure.sha256)
        return found

    def installed(self) -> dict[str, Installed]:
        """Returns the version of each plugin that should run."""
        return {
            plugin_id: self.version(plugin_id, record.current)
            for plugin_id, record in self.records().items()
            if record.enabled and not record.removing
        }

    def wanted(self, plugin_id: str, record: Record | None) -> Installed | None:
        """Returns the version of this plugin that should run according to this record, or None."""
        runs = record is not None and record.enabled and not record.removing
        return self.version(plugin_id, record.current) if record is not None and runs else None

    def version(self, plugin_id: str, version: Version) -> Installed:
        folder = self._home(plugin_id) / version.folder
        stamp = version.installed_at
        plugin = self.plugin(folder)
        if plugin is None:
            return Installed(plugin_id, version.version, folder, stamp)
        granted = permissions.permissions(version.granted, permissions.asked(plugin.manifest))
        return Installed(plugin_id, version.version, folder, stamp, granted, plugin.manifest.spec.limits)

    def plugin(self, folder: Path) -> Plugin | None:
        """Returns the plugin in this folder, or None if its files were damaged after the installation.

        The error itself is reported by the plugin's process.
        """
        if folder not in self._read:
            try:
                self._read[folder] = read_plugin(folder)
            except PluginInvalid:
                return None
        return self._read[folder]

    @contextlib.contextmanager
    def staging(self) -> Iterator[Path]:
        """Yields a folder to prepare a version in and deletes it afterwards.

        A folder that a killed process has left is deleted with other unused code.
        """
        above = self._root / ".staging"
        with self._locked():
            above.mkdir(exist_ok=True)
            folder = Path(tempfile.mkdtemp(dir=above))
            held = os.open(folder / STAGED, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(held, fcntl.LOCK_EX)
        try:
            yield folder
        finally:
            os.close(held)
            delete(folder)
            with self._locked(), contextlib.suppress(OSError):  # another installation stages there too
                above.rmdir()

    def add(self, plugin_id: str, code: Path, version: Version) -> Version:
        """Moves the code to its place and records it: as the current version of a new plugin, else as a candidate."""
        home = self._home(plugin_id)
        with self._locked():
            home.mkdir(parents=True, exist_ok=True)
            before = _readable(home / RECORD)
            version = version.model_copy(update={"folder": _folder_name(version.version)})
            os.rename(code, home / version.folder)
            try:
                records.write(home / RECORD, before.with_version(version) if before else Record(current=version))
            except OSError:
                delete(home / version.folder)
                raise
            (home / FAILURE).unlink(missing_ok=True)
        return version

    def refuse(self, plugin_id: str, failure: Failure) -> None:
        """Records why a version could not be installed, in the record of the one that stays or in a file of its own."""
        with self._locked():
            home = self._home(plugin_id)
            record = _readable(home / RECORD)
            if record is not None:
                refusal = Refusal(version=failure.version, folder="", reason=failure.reason, at=failure.at)
                records.write(home / RECORD, record.model_copy(update={"refused": refusal}))
            elif not (home / RECORD).exists():
                home.mkdir(parents=True, exist_ok=True)
                records.write(home / FAILURE, failure)

    def edit(self, plugin_id: str, change: Callable[[Record], Record]) -> Record | None:
        """Changes a record and returns it, or None if there is no readable one."""
        with self._locked():
            file = self._home(plugin_id) / RECORD
            record = _readable(file)
            if record is None:
                return None
            changed = change(record)
            if changed != record:
                records.write(file, changed)
            return changed

    def record(self, plugin_id: str) -> Record | None:
        """Returns the record. A damaged one counts as none, since reinstalling is the way to repair it."""
        return _readable(self._home(plugin_id) / RECORD)

    def give_up(self, plugin_id: str, wish: Wish) -> bool:
        """Marks a plugin as removed and records what happens to its data.

        Returns False if it does not exist. A Host ends its process.
        """
        with self._locked():
            file = self._home(plugin_id) / RECORD
            record = _readable(file)
            if record is None and not file.exists() and not file.with_name(FAILURE).exists():
                return False
            given_up = {"removing": wish, "candidate": None}
            records.write(file, (record or Record(current=NO_VERSION)).model_copy(update=given_up))
            return True

    def forget(self, plugin_id: str, wish: Wish) -> None:
        """Deletes the record after the data was treated as `wish` says.

        A version that was installed in its place by now stays.
        """
        with self._locked():
            file = self._home(plugin_id) / RECORD
            record = _readable(file)
            if record is None or record.removing != wish:
                return
            if (left := record.removed()) is not None:
                records.write(file, left)
                return
            for each in (file.with_name(FAILURE), file):
                each.unlink(missing_ok=True)

    def sweep(self, in_use: frozenset[Path] = frozenset()) -> None:
        """Deletes code that no record names and no process uses.

        Folder names are never reused, so the deletion needs no lock.
        """
        with self._locked():
            unused = [*self._unused(in_use)]
        for folder in unused:
            self._read.pop(folder, None)
            delete(folder)
        with self._locked():
            for home in self._root.glob("*/*"):
                if home.parent.name != ".staging" and not (home / RECORD).exists():
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
                    record = records.read(home / RECORD)
                    named = {version.folder for version in record.versions()} if record else set()
                    yield from (
                        folder
                        for folder in home.iterdir()
                        if folder.is_dir() and folder.name not in named and folder not in in_use
                    )

    def _home(self, plugin_id: str) -> Path:
        author, _, name = plugin_id.partition("/")
        return self._root / safe(author) / safe(name)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Holds a lock between processes: a command line and a Host may change records at the same time."""
        self._root.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._root / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def safe(part: str) -> str:
    """Returns one half of an identity, which is also a folder's name. Raises PluginInvalid if it can't be one."""
    allowed = all(each.isalnum() or each in "-_." for each in part)
    short = len(part) <= NAME_CHARACTERS and len(part.encode()) <= NAME_BYTES
    if not part or part.startswith(".") or not short or not allowed:
        raise PluginInvalid(
            f"'{part}' can't be part of a plugin's identity; use letters, digits, '-', '_' and '.', "
            f"at most {NAME_CHARACTERS} and {NAME_BYTES} bytes"
        )
    return part


def _readable(file: Path) -> Record | None:
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
        descriptor = os.open(staging / STAGED, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(descriptor)
        return True
    return False
