"""New lines of a plugin's log, as its Host writes them to disk; it goes on when the file is renewed."""

import os
from pathlib import Path


class LogTail:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._descriptor = -1
        self._begun = b""
        if self._open():
            os.lseek(self._descriptor, 0, os.SEEK_END)

    def lines(self) -> list[str]:
        """What is new since the last time, from now on."""
        found = self._read()
        if self._renewed():
            self.close()
            if self._open():
                found += self._read()
        return found

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

    def _renewed(self) -> bool:
        """The first file of all counts, too."""
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
            self._begun += block
        *whole, self._begun = self._begun.split(b"\n")
        return [line.decode(errors="replace") for line in whole]
