"""The folders that a started program may use: its working directory and its home."""

import contextlib
import glob
import os
import re
import shutil
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from parlour.core.errors import CallRejected
from parlour.core.model.ids import PluginId
from parlour.file_locks import try_lock_file
from parlour.isolation.folder_deletion import make_deletable

FOLDER_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
SYSTEM_ROOTS = (
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/var",
)
LOCK_FILE = "lock"
OWN_FOLDER = ".parlour"
"""Folder in a working directory for the lock and for attachments."""
MAX_FILE_BYTES = 64 * 1024 * 1024


class ProgramFolders:
    """Makes, checks and deletes the folders of programs."""

    def __init__(self, data: Path, allowed: Sequence[Path]) -> None:
        self._data = data
        self.workspaces = data / "workspaces"
        self._homes = data / "homes"
        self._allowed = tuple(Path(os.path.realpath(each.expanduser())) for each in allowed)

    def workspace(self, plugin_id: PluginId, name: str) -> Path:
        """Returns a working directory: a folder made for this name, or an absolute path that the operator allows."""
        if not name.startswith("/"):
            return self._own(self.workspaces, plugin_id, name or "default", "workspace")
        real = Path(os.path.realpath(name))
        if not any(real.is_relative_to(root) for root in self._allowed):
            raise CallRejected(
                "unauthorized",
                f"workspace: '{name[:200]}' is not below a folder of the setting programs.workspace_folders",
            )
        self._refuse_unsafe(real, name)
        return real

    def home(self, plugin_id: PluginId, name: str) -> Path:
        folder = self._own(self._homes, plugin_id, name or "default", "home")
        os.utime(folder)
        return folder

    def delete_unused(self, max_age_days: int) -> int:
        """Deletes working directories that were not used for this time, and returns their number."""
        if not self.workspaces.is_dir():
            return 0
        deleted, oldest = 0, time.time() - max_age_days * 86400
        for folder in self.workspaces.glob("*/*/*"):
            lock = folder / OWN_FOLDER / LOCK_FILE
            with contextlib.suppress(OSError, CallRejected):
                used_at = (lock if lock.exists() else folder).stat().st_mtime
                if folder.is_dir() and not folder.is_symlink() and used_at < oldest:
                    with locked(folder):
                        shutil.rmtree(folder, onerror=make_deletable)
                    deleted += 1
        return deleted

    def delete_unused_homes(self, max_age_days: int, in_use: Collection[Path]) -> int:
        """Deletes home folders with which no program was started for this time, and returns their number."""
        deleted, oldest = 0, time.time() - max_age_days * 86400
        for folder in self._homes.glob("*/*/*"):
            with contextlib.suppress(OSError):
                if folder.is_symlink() or folder in in_use or folder.stat().st_mtime >= oldest:
                    continue
                shutil.rmtree(folder, onerror=make_deletable)
                deleted += 1
        return deleted

    def of_conversation(self, conversation_id: str) -> list[Path]:
        """Returns the working directories of a conversation: their names begin with its id."""
        return [each for each in self.workspaces.glob(f"*/*/{glob.escape(conversation_id)}-*") if each.is_dir()]

    def delete_of_conversation(self, conversation_id: str) -> None:
        """Deletes the working directories of a conversation, in which no program may work any more."""
        for folder in self.of_conversation(conversation_id):
            shutil.rmtree(folder, onerror=make_deletable)

    def delete_plugin(self, plugin_id: PluginId) -> None:
        """Deletes all folders of a plugin that is removed with its data."""
        for root in (self.workspaces, self._homes):
            if (root / plugin_id).is_dir():
                shutil.rmtree(root / plugin_id, onerror=make_deletable)

    def _own(self, root: Path, plugin_id: PluginId, name: str, field: str) -> Path:
        if not FOLDER_NAME.fullmatch(name):
            raise CallRejected("invalid_argument", f"{field}: use up to 64 small letters, digits, _ and -")
        folder = root / plugin_id / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def _refuse_unsafe(self, real: Path, name: str) -> None:
        """Raises CallRejected for folders of the system, of the user or of the Host, and for folders above them."""
        closed = [Path(os.path.realpath(each)) for each in (str(self._data), *SYSTEM_ROOTS)]
        home = Path(os.path.realpath(str(Path.home())))
        if any(real.is_relative_to(each) for each in closed) or any(
            each.is_relative_to(real) for each in (*closed, home)
        ):
            raise CallRejected("unauthorized", f"workspace: '{name[:200]}' belongs to the system, the user or the Host")
        if not real.is_dir():
            raise CallRejected("not_found", f"workspace: there is no folder '{name[:200]}'")
        if real.stat().st_uid != os.geteuid() or not os.access(real, os.W_OK):
            raise CallRejected("unauthorized", f"workspace: '{name[:200]}' does not belong to the user of the Host")


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Holds the lock of a working directory. Raises CallRejected if another process works in it."""
    own = _open_folder(folder, (OWN_FOLDER,))
    try:
        descriptor = os.open(LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=own)
    finally:
        os.close(own)
    try:
        if not try_lock_file(descriptor):
            raise CallRejected("conflict", "workspace: another process works in this folder")
        os.utime(descriptor)
        yield
    finally:
        os.close(descriptor)


def write_file(folder: Path, path: str, content: bytes, append: bool = False) -> None:
    """Writes a file below a folder whose content is not trusted: no link is followed. Raises CallRejected."""
    parts = Path(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path:
        raise CallRejected("invalid_argument", f"file: '{path[:200]}' is not a path below the folder")
    try:
        parent = _open_folder(folder, parts[:-1])
        try:
            mode = os.O_APPEND if append else os.O_TRUNC
            flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | mode
            descriptor = os.open(parts[-1], flags, 0o600, dir_fd=parent)
        finally:
            os.close(parent)
        try:
            if os.fstat(descriptor).st_size + len(content) > MAX_FILE_BYTES:
                raise CallRejected("payload_too_large", f"file: at most {MAX_FILE_BYTES} bytes")
            with open(descriptor, "wb", closefd=False) as file:
                file.write(content)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise CallRejected("runtime_error", f"file: '{path[:200]}' can't be written ({error.strerror})") from error


def _open_folder(folder: Path, parts: Sequence[str]) -> int:
    """Returns a descriptor of a folder below `folder`, which is made if it is missing."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in parts:
        with contextlib.suppress(FileExistsError):
            os.mkdir(part, 0o700, dir_fd=descriptor)
        try:
            deeper = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = deeper
    return descriptor
