"""Adds the files of a data directory to the archive of a backup.

Plugins may write to some of these folders during the backup. Therefore every file is opened relative to the descriptor
of its folder and without following links, and is read only if it is a regular file: a plugin that replaces a file or
folder by a link can't get other files into the backup.
"""

import errno
import os
import stat
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from parlour_sdk.values import dataclass

MAX_DEPTH = 64
"""Maximum depth of folders that are backed up."""
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)  # Windows has none of these
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class ArchiveFailed(Exception):
    """Raised when the archive can't be written; the message is the system's reason."""


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file or folder that is missing from the backup or incomplete in it."""

    name: str
    reason: str


def add_all(archive: tarfile.TarFile, root: Path, files: Iterable[str], folders: Iterable[str]) -> list[SkippedFile]:
    """Adds these files and whole folders of a data directory, and returns what could not be added.

    Must be called after the database was copied: files that it refers to existed before. Files that are deleted since
    then are not needed.
    """
    walk = _FolderWalker(archive)
    descriptor = os.open(root, _FOLDER)
    try:
        for name in files:
            walk.add(descriptor, name, name)
    finally:
        os.close(descriptor)
    for name in folders:
        walk.add_top(root / name, name)
    return walk.skipped


def add_file(archive: tarfile.TarFile, name: str, content: BinaryIO) -> bool:
    """Adds an open file and returns whether it was read completely. Bytes that can't be read are zeros.

    Raises ArchiveFailed.
    """
    status = os.fstat(content.fileno())
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = status.st_size, int(status.st_mtime), stat.S_IMODE(status.st_mode)
    padded = _PaddedReader(content)
    try:
        archive.addfile(entry, padded)  # type: ignore[arg-type]
    except OSError as error:
        raise ArchiveFailed(error.strerror or str(error)) from error
    return not padded.was_short


class _PaddedReader:
    """Reads exactly as many bytes as requested, since the archive's header has stated the size."""

    def __init__(self, content: BinaryIO) -> None:
        self._content = content
        self.was_short = False

    def read(self, size: int) -> bytes:
        try:
            block = b"" if self.was_short else self._content.read(size)
        except OSError:
            block = b""
        self.was_short = self.was_short or len(block) < size
        return block.ljust(size, b"\0")


class _FolderWalker:
    """Adds folders recursively and collects what could not be added."""

    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive
        self.skipped: list[SkippedFile] = []

    def add_top(self, path: Path, name: str) -> None:
        """Adds a top-level folder. It may be a link, which only the operator can have made; nothing below it may."""
        with self._collect_skipped(name):
            descriptor = os.open(path, _FOLDER)
            self._add_opened(descriptor, name, 1)

    def add(self, folder: int, name: str, full_name: str, depth: int = 0) -> None:
        with self._collect_skipped(full_name):
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode) and depth:
                self._add_opened(os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder), full_name, depth + 1)
            else:
                self._add_file(os.open(name, _FILE, dir_fd=folder), full_name)

    def _add_opened(self, descriptor: int, name: str, depth: int) -> None:
        try:
            if depth > MAX_DEPTH:
                raise _SkipFile(f"it is more than {MAX_DEPTH} folders deep")
            for each in sorted(os.listdir(descriptor)):
                self.add(descriptor, each, f"{name}/{each}", depth)
        finally:
            os.close(descriptor)

    def _add_file(self, descriptor: int, name: str) -> None:
        with os.fdopen(descriptor, "rb") as content:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _SkipFile("it is no regular file")
            if not add_file(self._archive, name, content):
                raise _SkipFile("it could not be read to its end; what is missing is zeros")

    @contextmanager
    def _collect_skipped(self, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            return  # deleted after the database was copied
        except _SkipFile as refusal:
            self.skipped.append(SkippedFile(name, str(refusal)))
        except OSError as error:
            self.skipped.append(SkippedFile(name, _reason(error)))


class _SkipFile(Exception):
    """Raised when a file or folder is not added; the message says why."""


def _reason(error: OSError) -> str:
    return "it is a link" if error.errno == errno.ELOOP else error.strerror or str(error)
