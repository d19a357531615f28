"""Writes a plugin's log to disk: lines with their time, in a few files of limited size.

A disk error is never raised: it is logged, and the lines of the next 60 seconds are lost with those of the failed
write.
"""

import logging
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

logger = logging.getLogger(__name__)

_RETRY_SECONDS = 60.0
"""Seconds without writes after a write has failed."""


class LogFile:
    """A rotated log: `name.log` is the newest file, `name.log.1` the one before, up to `files` of them."""

    def __init__(self, path: Path, files: int, bytes_each: int) -> None:
        self._path = path
        self._files = files
        self._bytes_each = bytes_each
        self._descriptor = -1
        self._size = 0
        self._not_before = 0.0

    def write(self, lines: Sequence[str]) -> None:
        """Appends lines. A file exceeds its size by at most what one call writes."""
        if time.monotonic() < self._not_before:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        try:
            if self._size >= self._bytes_each:
                self._rotate()
            self._append("".join(f"{now} {line}\n" for line in lines).encode(errors="replace"))
        except OSError as error:
            logger.warning("%s can't be written for now: %s", self._path, error.strerror)
            self._not_before = time.monotonic() + _RETRY_SECONDS
            self.close()

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor, self._size = -1, 0

    def _append(self, text: bytes) -> None:
        if self._descriptor < 0:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            self._size = os.fstat(self._descriptor).st_size
        self._size += os.write(self._descriptor, text)

    def _rotate(self) -> None:
        self.close()
        names = [self._path, *(Path(f"{self._path}.{number}") for number in range(1, self._files))]
        for older, newer in zip(reversed(names), [*reversed(names[:-1])], strict=False):
            if newer.exists():
                newer.replace(older)
        if self._files == 1:
            self._path.unlink(missing_ok=True)
