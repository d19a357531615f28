"""Limits workspaces by project quotas of their file system (ext4, XFS), where it is mounted with `prjquota`.

It needs root and Linux 5.14. All functions block on the disk.
"""

import contextlib
import ctypes
import fcntl
import hashlib
import os
import stat
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

MEBIBYTE: Final = 1024 * 1024
GET_ATTRIBUTES: Final = 0x801C581F
SET_ATTRIBUTES: Final = 0x401C5820
ATTRIBUTES: Final = struct.Struct("=5I8s")
"""Flags, size of extents, number of extents, project, size of copied extents, and room."""
INHERIT_PROJECT: Final = 0x200
LIMITS: Final = struct.Struct("=8QI4x")
"""Hard and soft limit in KiB, bytes, hard and soft limit of files, files, two times, and which fields are valid."""
QUOTACTL_FD: Final = 443
PROJECT_QUOTA: Final = 2
GET_QUOTA: Final = 0x800007
SET_QUOTA: Final = 0x800008
VALID_LIMITS: Final = 5
FILES_PER_MIB: Final = 64
"""As many as a file system of that size would have."""
FIRST_PROJECT: Final = 0x7000_0000
PROJECTS: Final = 0x0FFF_FFFF
"""Numbers of projects from here on belong to workspaces."""
PROBE_MIB: Final = 1
OTHER_USER: Final = 65534
PROBE_SECONDS: Final = 10.0
COMMON_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class QuotaFailed(Exception):
    """Raised when a file system takes no project quota."""


class ProjectQuotas:
    """Gives each workspace a project with a limit."""

    def __init__(self, size_mb: int) -> None:
        self._size_mb = size_mb

    def problem(self, root: Path) -> str:
        """Tries a quota out below a folder. Returns why quotas can't be used; empty if they hold."""
        if os.geteuid() != 0:
            return "only root can set project quotas"
        folder = root / f".quota-probe-{os.getpid()}"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _limit(folder, PROBE_MIB)
            return "" if _is_limited(folder / "probe") else "a quota was set and did not hold"
        except (QuotaFailed, OSError) as error:
            return str(error)
        finally:
            with contextlib.suppress(QuotaFailed, OSError):
                self.release(folder)
            (folder / "probe").unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                folder.rmdir()

    def open(self, folder: Path) -> None:
        """Limits what is and will be in a folder. Raises QuotaFailed."""
        try:
            _limit(folder, self._size_mb)
        except OSError as error:
            raise QuotaFailed(error.strerror or str(error)) from error

    def release(self, folder: Path) -> None:
        """Forgets the limit of a folder that is about to be deleted."""
        with _opened(folder) as descriptor:
            project = _project_of(descriptor)
            if project >= FIRST_PROJECT:
                _set_limits(descriptor, project, 0, 0)


def _limit(folder: Path, size_mb: int) -> None:
    with _opened(folder) as descriptor:
        project = _project_of(descriptor)
        if not project:
            project = _free_project(descriptor, folder)
            _set_limits(descriptor, project, size_mb * 1024, size_mb * FILES_PER_MIB)
            _assign(descriptor, project, INHERIT_PROJECT)
            _assign_below(descriptor, project)
        elif project < FIRST_PROJECT:
            raise QuotaFailed(f"the folder belongs to the project {project} of this machine")
        else:
            _set_limits(descriptor, project, size_mb * 1024, size_mb * FILES_PER_MIB)


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, COMMON_READ | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _project_of(descriptor: int) -> int:
    return int(ATTRIBUTES.unpack(_attributes(descriptor))[3])


def _attributes(descriptor: int) -> bytes:
    found = bytearray(ATTRIBUTES.size)
    fcntl.ioctl(descriptor, GET_ATTRIBUTES, found)
    return bytes(found)


def _assign(descriptor: int, project: int, flags: int = 0) -> None:
    old_flags, extent, _, _, copied, room = ATTRIBUTES.unpack(_attributes(descriptor))
    fcntl.ioctl(descriptor, SET_ATTRIBUTES, ATTRIBUTES.pack(old_flags | flags, extent, 0, project, copied, room))


def _assign_below(top: int, project: int) -> None:
    """Gives the files of an earlier version to the project."""
    for _, folders, files, folder in os.fwalk(".", dir_fd=top):
        for name in (*folders, *files):
            with contextlib.suppress(OSError):  # it has vanished, or is a link
                descriptor = os.open(name, COMMON_READ, dir_fd=folder)
                try:
                    mode = os.fstat(descriptor).st_mode
                    if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
                        _assign(descriptor, project, INHERIT_PROJECT if stat.S_ISDIR(mode) else 0)
                finally:
                    os.close(descriptor)


def _free_project(descriptor: int, folder: Path) -> int:
    """Returns a number that no files and no limits have."""
    number = int.from_bytes(hashlib.sha256(str(folder).encode()).digest()[:4]) % PROJECTS
    while _is_taken(descriptor, FIRST_PROJECT + number):
        number = (number + 1) % PROJECTS
    return FIRST_PROJECT + number


def _is_taken(descriptor: int, project: int) -> bool:
    buffer = ctypes.create_string_buffer(LIMITS.size)
    try:
        _call(descriptor, GET_QUOTA, project, buffer)
    except FileNotFoundError:
        return False
    hard, soft, size, hard_files, soft_files, files, *_ = LIMITS.unpack(buffer.raw)
    return any((hard, soft, size, hard_files, soft_files, files))


def _set_limits(descriptor: int, project: int, kibibytes: int, files: int) -> None:
    content = LIMITS.pack(kibibytes, 0, 0, files, 0, 0, 0, 0, VALID_LIMITS)
    _call(descriptor, SET_QUOTA, project, ctypes.create_string_buffer(content, LIMITS.size))


def _call(descriptor: int, command: int, project: int, buffer: ctypes.Array[ctypes.c_char]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(QUOTACTL_FD, descriptor, (command << 8) | PROJECT_QUOTA, project, buffer) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def _is_limited(file: Path) -> bool:
    """Returns whether another user can't write more than the quota of the probe. Root is not limited."""
    with file.open("wb") as output:
        written = subprocess.run(
            ["dd", "if=/dev/zero", "bs=64K", f"count={(PROBE_MIB + 1) * 16}"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
            user=OTHER_USER,
            group=OTHER_USER,
            extra_groups=[],
            timeout=PROBE_SECONDS,
            check=False,
        )
        return written.returncode != 0 and os.fstat(output.fileno()).st_size <= PROBE_MIB * MEBIBYTE
