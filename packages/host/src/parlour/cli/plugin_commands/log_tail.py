"""Reads new lines of a plugin's log file as the Host writes it, and continues when the file is rotated."""

import os
from pathlib import Path


class LogTail:
    """Reads the lines that are appended to a file after this object was created."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._descriptor = -1
        self._incomplete_line = b""
        if self._open():
            os.lseek(self._descriptor, 0, os.SEEK_END)

    def read_lines(self) -> list[str]:
        """Returns the complete lines that were written since the last call."""
        lines = self._read()
        if self._is_replaced():
            self.close()
            if self._open():
                lines += self._read()
        return lines

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _open(self) -> bool:
        try:
            self._descriptor = os.open(self._file, os.O_RDONLY)
        except OSError:
            return False
        return True

    def _is_replaced(self) -> bool:
        """Returns whether the file was replaced, or was not open yet."""
        if self._descriptor < 0:
            return True
        try:
            return os.stat(self._file).st_ino != os.fstat(self._descriptor).st_ino
        except OSError:
            return False

    def _read(self) -> list[str]:
        if self._descriptor < 0:
            return []
        while block := os.read(self._descriptor, 65536):
            self._incomplete_line += block
        *complete, self._incomplete_line = self._incomplete_line.split(b"\n")
        return [line.decode(errors="replace") for line in complete]
