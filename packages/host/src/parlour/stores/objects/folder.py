"""Stores objects as files, in folders named by the first letters of their digest.

Every step goes from one open folder to the next and follows no link, so nothing outside the root is touched. A file is
written beside its place, synced to disk and renamed: readers see a whole object or none.
"""

import asyncio
import os
import re
import stat
import threading
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from parlour.core.store.objects import CHUNK_BYTES, ObjectInfo, ObjectMissing, StoredObject

from .errors import translate_os_errors
from .spool import Spool

INCOMING = "incoming"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)  # Windows has neither


class FolderObjects:
    """Object store in a folder, for one process at a time; the lock on the data directory ensures that."""

    def __init__(self, root: Path) -> None:
        self._replace_lock = threading.Lock()
        """Lock for storing and deleting, so that no object is deleted just as it is stored again."""
        with translate_os_errors():
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
            self._incoming = _open_folder(self._root, INCOMING, make=True)
            self._clear_incoming()

    def close(self) -> None:
        os.close(self._incoming)
        os.close(self._root)

    async def open_writer(self) -> "FolderObjectWriter":
        with translate_os_errors():
            return FolderObjectWriter(self, Spool(self._incoming, uuid.uuid4().hex))

    async def size(self, sha256: str) -> int | None:
        with translate_os_errors():
            stored = await asyncio.to_thread(self._stat, sha256)
        return None if stored is None else stored.size_bytes

    async def stream(self, sha256: str, offset: int, length: int) -> AsyncIterator[bytes]:
        with translate_os_errors():
            file = await asyncio.to_thread(self._open, sha256)
        try:
            while length > 0:
                with translate_os_errors():
                    piece = await asyncio.to_thread(os.pread, file, min(length, CHUNK_BYTES), offset)
                if not piece:
                    return
                offset, length = offset + len(piece), length - len(piece)
                yield piece
        finally:
            os.close(file)

    async def delete(self, sha256: str, written_before: int) -> bool:
        with translate_os_errors():
            return await asyncio.to_thread(self._delete, sha256, written_before)

    async def all(self) -> AsyncIterator[StoredObject]:
        for prefix in _folders(self._root):
            with translate_os_errors():
                objects = await asyncio.to_thread(self._objects_below, prefix)
            for each in objects:
                yield each

    def move_in(self, spool: Spool) -> ObjectInfo:
        """Moves the file to its place. It replaces an object with the same content, whose age starts again."""
        stored = spool.seal()
        with self._folder_of(stored.sha256, make=True) as folder:
            with self._replace_lock:
                os.replace(spool.name, stored.sha256, src_dir_fd=self._incoming, dst_dir_fd=folder)
            spool.close()
            os.fsync(folder)
        return stored

    def _clear_incoming(self) -> None:
        """Deletes files that a killed process was writing."""
        for name in os.listdir(self._incoming):
            os.unlink(name, dir_fd=self._incoming)

    @contextmanager
    def _folder_of(self, sha256: str, make: bool = False) -> Iterator[int]:
        if not _DIGEST.fullmatch(sha256):
            raise ObjectMissing(ObjectMissing.__doc__)
        upper = _open_folder(self._root, sha256[:2], make)
        try:
            lower = _open_folder(upper, sha256[2:4], make)
        finally:
            os.close(upper)
        try:
            yield lower
        finally:
            os.close(lower)

    def _open(self, sha256: str) -> int:
        try:
            with self._folder_of(sha256) as folder:
                return os.open(sha256, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
        except FileNotFoundError:
            raise ObjectMissing(ObjectMissing.__doc__) from None

    def _stat(self, sha256: str) -> StoredObject | None:
        try:
            with self._folder_of(sha256) as folder:
                return _stat_object(folder, sha256)
        except (FileNotFoundError, ObjectMissing):
            return None

    def _delete(self, sha256: str, written_before: int) -> bool:
        try:
            with self._folder_of(sha256) as folder, self._replace_lock:
                stored = _stat_object(folder, sha256)
                if stored is None or stored.written_at >= written_before:
                    return False
                os.unlink(sha256, dir_fd=folder)
                return True
        except (FileNotFoundError, ObjectMissing):
            return False

    def _objects_below(self, prefix: str) -> list[StoredObject]:
        objects: list[StoredObject] = []
        upper = _open_folder(self._root, prefix)
        try:
            for second_prefix in _folders(upper):
                lower = _open_folder(upper, second_prefix)
                try:
                    names = sorted(name for name in os.listdir(lower) if _DIGEST.fullmatch(name))
                    objects += [each for name in names if (each := _stat_object(lower, name))]
                finally:
                    os.close(lower)
        finally:
            os.close(upper)
        return objects


class FolderObjectWriter:
    """Writes one object to a temporary file, which becomes the object when it is complete."""

    def __init__(self, store: FolderObjects, spool: Spool) -> None:
        self._store = store
        self._spool = spool

    async def write(self, block: bytes) -> None:
        with translate_os_errors():
            await asyncio.to_thread(self._spool.write, block)

    async def finish(self) -> ObjectInfo:
        try:
            with translate_os_errors():
                return await asyncio.to_thread(self._store.move_in, self._spool)
        finally:
            self.abort()

    def abort(self) -> None:
        with suppress(FileNotFoundError):
            self._spool.discard()


def _open_folder(folder: int, name: str, make: bool = False) -> int:
    """Opens a folder below an open one, without following links."""
    if make:
        try:
            os.mkdir(name, 0o700, dir_fd=folder)
            os.fsync(folder)
        except FileExistsError:
            pass
    return os.open(name, _FOLDER, dir_fd=folder)


def _folders(folder: int) -> list[str]:
    return sorted(name for name in os.listdir(folder) if len(name) == 2)


def _stat_object(folder: int, sha256: str) -> StoredObject | None:
    status = os.stat(sha256, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode):
        return None
    return StoredObject(sha256, status.st_size, status.st_mtime_ns // 1_000_000)
