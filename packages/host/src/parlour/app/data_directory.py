"""The folder with all data of a Host, and the lock that lets only one Host use it. Does not know the files' content."""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from parlour.file_locks import try_lock_file, try_share_file, unlock_file

GROUP_AND_OTHERS_MODE = 0o077
"""Mode bits of the group and of all other users."""


class DataDirectoryUnusable(Exception):
    """Raised when the data directory can't be used."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class DataDirectoryInUse(Exception):
    """Raised when another process uses this data directory."""

    code = "data_directory_already_served"

    def __init__(self, path: Path, pid: int | None) -> None:
        process = f"process {pid}" if pid else "another process"
        super().__init__(
            f"The data directory '{path}' is already served by {process}: stop that one first, "
            "or start with another data directory."
        )
        self.pid = pid


class DataDirectory:
    """Paths below one folder. Nothing is created before it is needed."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path).expanduser().absolute()

    @property
    def database(self) -> Path:
        return self.path / "parlour.db"

    @property
    def lock_file(self) -> Path:
        return self.path / "host.lock"

    @property
    def send_log(self) -> Path:
        return self.path / "handovers"

    @property
    def secret_key(self) -> Path:
        return self.path / "secret.key"

    @property
    def plugins(self) -> Path:
        return self.folder("plugins")

    @property
    def plugin_data(self) -> Path:
        return self.folder("plugin-data")

    @property
    def plugin_status(self) -> Path:
        return self.path / "plugins.json"

    @property
    def bot_status(self) -> Path:
        return self.path / "bots.json"

    @property
    def plugin_listeners(self) -> Path:
        return self.path / "listeners.json"

    @property
    def runtime_tokens(self) -> Path:
        return self.path / "runtime-tokens.json"

    @property
    def logs(self) -> Path:
        return self.folder("logs")

    def folder(self, name: str) -> Path:
        """Returns the subfolder of this name, which is created if it does not exist."""
        self.create()
        return _create_folder(self.path / name)

    def create(self) -> None:
        """Creates the folder if it does not exist, accessible only to its owner. Raises DataDirectoryUnusable."""
        _create_folder(self.path)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Holds the lock until the end of the block or of the process, however it ends. Raises DataDirectoryInUse."""
        self.create()
        descriptor = self._open_lock_file()
        try:
            self._make_private()
            yield
            os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)

    def public_entries(self) -> list[str]:
        """Returns the names of files and folders in it whose mode lets other users read or write them."""
        with os.scandir(self.path) as entries:
            return sorted(each.name for each in entries if not each.is_symlink() and _is_public(each.stat()))

    def _make_private(self) -> None:
        """Removes the access of other users to the folder's entries, but not to the folder itself.

        The operator may have chosen the folder's mode. `parlour doctor` reports entries that can't be changed because
        they belong to another user.
        """
        for name in self.public_entries():
            with suppress(OSError):
                descriptor = os.open(self.path / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    os.fchmod(descriptor, stat.S_IMODE(os.fstat(descriptor).st_mode) & ~GROUP_AND_OTHERS_MODE)
                finally:
                    os.close(descriptor)

    def serving_pid(self) -> int | None:
        """Returns the id of the process that holds the lock. A file left behind by a crashed process does not count."""
        try:
            descriptor = os.open(self.lock_file, os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            return _pid(descriptor) if _is_held(descriptor) else None
        finally:
            os.close(descriptor)

    def _open_lock_file(self) -> int:
        descriptor = -1
        try:
            # Python opens files close-on-exec, so a child process that survives this one does not keep the lock.
            descriptor = os.open(self.lock_file, os.O_RDWR | os.O_CREAT, 0o600)
            self._acquire_lock(descriptor)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except (OSError, DataDirectoryInUse) as error:
            if descriptor >= 0:
                os.close(descriptor)
            if isinstance(error, DataDirectoryInUse):
                raise
            raise DataDirectoryUnusable(
                "data_directory_not_writable",
                f"The file '{self.lock_file}' can't be written ({error.strerror}): make room for it, "
                "or let the user that runs Parlour write to it.",
            ) from error
        return descriptor

    def _acquire_lock(self, descriptor: int) -> None:
        while True:
            if try_lock_file(descriptor):
                return
            if _is_held(descriptor):
                raise DataDirectoryInUse(self.path, _pid(descriptor))
            unlock_file(descriptor)
            time.sleep(0.001)  # another process was only checking whether the lock is held


def _is_public(status: os.stat_result) -> bool:
    return bool(status.st_mode & GROUP_AND_OTHERS_MODE)


def _is_held(descriptor: int) -> bool:
    """Returns whether a Host holds the lock, by trying a shared lock.

    A shared lock conflicts with the lock of a Host but not with other checks. If it was acquired, it stays acquired.
    """
    return not try_share_file(descriptor)


def _pid(descriptor: int) -> int | None:
    text = os.pread(descriptor, 32, 0).strip()
    return int(text) if text.isdigit() else None


def _create_folder(path: Path) -> Path:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise DataDirectoryUnusable(
            "data_directory_not_a_folder",
            f"'{path}' is not a folder or lies below a file: choose another data directory, or move that file away.",
        ) from None
    except OSError as error:
        raise DataDirectoryUnusable(
            "data_directory_not_created",
            f"The folder '{path}' can't be created ({error.strerror}): choose another data directory, "
            "or let the user that runs Parlour write to the folder above it.",
        ) from error
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise DataDirectoryUnusable(
            "data_directory_not_writable",
            f"The folder '{path}' can't be written: choose another data directory, "
            "or let the user that runs Parlour write to this one.",
        )
    return path
