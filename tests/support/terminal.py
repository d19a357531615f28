"""Runs programs at a real terminal: a test types, control keys included, and reads the screen."""

import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from .commands import clean_environment

CTRL_C = "\x03"
CTRL_D = "\x04"
SECONDS = 20.0
TAKE = 'exec 0<>"$0" 1>&0 2>&0; exec "$@"'
"""The first process of a session gets the terminal that it opens as its own, so Ctrl-C reaches it as a signal."""


class Terminal:
    def __init__(self, command: Sequence[object], folder: Path) -> None:
        self._ours, self._its = pty.openpty()
        words = ["sh", "-c", TAKE, os.ttyname(self._its), *map(str, command)]
        self.process = subprocess.Popen(words, cwd=folder, env=clean_environment(None), start_new_session=True)
        self.seen = ""

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(10)
        os.close(self._ours)
        os.close(self._its)

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def enter(self, line: str) -> None:
        self.type(f"{line}\n")

    def until(self, text: str, times: int = 1) -> None:
        """Waits until the screen has shown this text the given number of times."""
        until = time.monotonic() + SECONDS
        while self.seen.count(text) < times:
            left = until - time.monotonic()
            assert left > 0, f"{text!r} was not shown {times} times: {self.seen!r}"
            if select.select([self._ours], [], [], left)[0]:
                self.seen += os.read(self._ours, 65536).decode(errors="replace").replace("\r\n", "\n")

    def status(self) -> int:
        """Returns the exit status of the program."""
        return self.process.wait(SECONDS)
