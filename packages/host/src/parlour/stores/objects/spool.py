"""A temporary file for content on its way into a store, counted and hashed as it is written."""

import hashlib
import os
import threading

from parlour.core.store.objects import ObjectInfo


class Spool:
    """One file in a folder of such files. Its methods block; a lock serializes them, whichever threads they run on."""

    def __init__(self, folder: int, name: str) -> None:
        self._folder = folder
        self._name = name
        self._digest = hashlib.sha256()
        self._size = 0
        self._lock = threading.Lock()
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        self._file: int | None = os.open(name, flags, 0o600, dir_fd=folder)

    @property
    def name(self) -> str:
        return self._name

    @property
    def file(self) -> int:
        if self._file is None:
            raise FileNotFoundError("the file was abandoned")
        return self._file

    def write(self, block: bytes) -> None:
        with self._lock:
            remaining = memoryview(block)
            while remaining:
                remaining = remaining[os.write(self.file, remaining) :]
            self._digest.update(block)
            self._size += len(block)

    def seal(self) -> ObjectInfo:
        """Syncs the content to disk and returns its digest and size."""
        with self._lock:
            os.fsync(self.file)
            return ObjectInfo(self._digest.hexdigest(), self._size)

    def close(self) -> None:
        """Closes the file after it was moved."""
        with self._lock:
            self._close()

    def discard(self) -> None:
        with self._lock:
            if self._file is not None:
                self._close()
                os.unlink(self._name, dir_fd=self._folder)

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
