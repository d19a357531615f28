"""Installed plugins below the data directory: a record each, and beside it the code of the versions it names.

A version's code never changes once it is there; what is installed changes by replacing the record. So the version that
runs keeps its files until another has taken its place. Whoever changes something waits for the disk, and so does it in
a thread of its own where others are served.
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
"""A file's name may have 255, and some are made of a plugin's."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A version of a plugin, ready to be started."""

    plugin_id: str
    version: str
    folder: Path
    stamp: int
    """Differs from one installation to the next."""
    granted: PluginPermissions = field(default_factory=PluginPermissions)
    """What it asks for and was given."""
    limits: PluginLimits = field(default_factory=PluginLimits)


@dataclass(frozen=True, slots=True)
class Unusable:
    """A plugin of which there is too little to run it."""

    reason: str
    version: str = ""
    source: str = ""
    sha256: str = ""


class PluginFolder:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: dict[Path, Plugin] = {}

    def records(self) -> dict[str, Record]:
        """Everything that is installed, also what is disabled or about to go."""
        return {plugin_id: each for plugin_id, each in self._all().items() if isinstance(each, Record)}

    def unusable(self) -> dict[str, Unusable]:
        """Everything that is there and can't run as it is."""
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
        """What should run."""
        return {
            plugin_id: self.version(plugin_id, record.current)
            for plugin_id, record in self.records().items()
            if record.enabled and not record.removing
        }

    def wanted(self, plugin_id: str, record: Record | None) -> Installed | None:
        """What should run of this one by this record."""
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
        """What the files say; None when they were spoiled after the installation. Its process says how."""
        if folder not in self._read:
            try:
                self._read[folder] = read_plugin(folder)
            except PluginInvalid:
                return None
        return self._read[folder]

    @contextlib.contextmanager
    def staging(self) -> Iterator[Path]:
        """A folder to prepare a version in, gone afterwards; what a process leaves that was killed is swept away."""
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
        """Moves the code to its place and records it: at once if it is new, as a candidate if it replaces another."""
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
        """Notes why a version could not be installed, beside the one that stays, or alone when there is none."""
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
        """The changed record; None when there is none that can be read."""
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
        """A damaged one is as good as none: installing again is the way to mend it."""
        return _readable(self._home(plugin_id) / RECORD)

    def give_up(self, plugin_id: str, wish: Wish) -> bool:
        """Marks it as removed, with what is to become of its data; False when it is not there. A Host ends it."""
        with self._locked():
            file = self._home(plugin_id) / RECORD
            record = _readable(file)
            if record is None and not file.exists() and not file.with_name(FAILURE).exists():
                return False
            given_up = {"removing": wish, "candidate": None}
            records.write(file, (record or Record(current=NO_VERSION)).model_copy(update=given_up))
            return True

    def forget(self, plugin_id: str, wish: Wish) -> None:
        """Its end, after this was done with its data: nothing stays but what was installed in its place meanwhile."""
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
        """Deletes code that no record names and no process uses. No name comes twice, so nobody has to wait for it."""
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
        """Between processes: a command line and a Host change records side by side."""
        self._root.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._root / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def safe(part: str) -> str:
    """One half of an identity, which is also a folder's name."""
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
    """Readable in a list of processes, and never used before."""
    readable = "".join(each if each.isascii() and (each.isalnum() or each in ".+-") else "_" for each in version)
    return f"{readable[:40].lstrip('.') or '0'}-{secrets.token_hex(4)}"


def _is_abandoned(staging: Path) -> bool:
    """Whoever prepares a version in it holds its lock, and no process does so after its end."""
    with contextlib.suppress(OSError):
        descriptor = os.open(staging / STAGED, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(descriptor)
        return True
    return False
