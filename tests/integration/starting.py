"""Starts the commands of tests: where tests run side by side by a fork of one process that has loaded all they need,
and otherwise as whoever uses them does. Tests that measure run alone, and so what they measure is what users have.
"""

import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

SERVER = Path(__file__).with_name("fork_server.py")
ROOM = "." * 8192


class Forked:
    """What `subprocess.Popen` is for a process that another one has started for us."""

    def __init__(self, command: list[str], told: socket.socket) -> None:
        self.args = command
        self.returncode: int | None = None
        self._told = told
        self.pid = self._number()

    def poll(self) -> int | None:
        return self.returncode if self.returncode is not None or not self._is_told(0) else self._end()

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is not None:
            return self.returncode
        if not self._is_told(timeout):
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self._end()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ended just now
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _is_told(self, seconds: float | None) -> bool:
        looking = select.poll()
        looking.register(self._told, select.POLLIN)
        return bool(looking.poll(None if seconds is None else seconds * 1000))

    def _end(self) -> int:
        self.returncode = self._number()
        self._told.close()
        return self.returncode

    def _number(self) -> int:
        line = b""
        while not line.endswith(b"\n"):
            more = self._told.recv(1)
            assert more, "the process that starts others has ended"
            line += more
        return int(line)


Process = subprocess.Popen[bytes] | Forked


def start(command: list[str], environment: Mapping[str, str], output: IO[bytes], errors: IO[bytes]) -> Process:
    """In a session of its own."""
    if "PYTEST_XDIST_WORKER" in os.environ and _python(environment) == _python(os.environ):
        return fork(command, environment, output, errors)
    return spawn(command, environment, output, errors)


def spawn(command: list[str], environment: Mapping[str, str], output: IO[bytes], errors: IO[bytes]) -> Process:
    return subprocess.Popen(command, env=environment, stdout=output, stderr=errors, start_new_session=True)


def fork(command: list[str], environment: Mapping[str, str], output: IO[bytes], errors: IO[bytes]) -> Forked:
    told, telling = socket.socketpair()
    with telling:
        request = json.dumps({"command": command, "environment": dict(environment)}).encode()
        socket.send_fds(_server(), [request], [output.fileno(), errors.fileno(), telling.fileno()])
    return Forked(command, told)


def run(command: list[str], environment: Mapping[str, str], seconds: float) -> subprocess.CompletedProcess[str]:
    """To its end, which must come within that time."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = start(command, environment, output, errors)
        try:
            status = process.wait(seconds)
        finally:
            process.kill()
        for file in (output, errors):
            file.seek(0)
        return subprocess.CompletedProcess(command, status, output.read().decode(), errors.read().decode())


def _python(environment: Mapping[str, str]) -> dict[str, str]:
    """What Python reads only once."""
    return {name: value for name, value in environment.items() if name.startswith("PYTHON")}


@functools.cache
def _server() -> socket.socket:
    """It ends when this process has: nobody else has our end."""
    asking, asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with asked:
        number = asked.fileno()
        words = [sys.executable, "-P", SERVER, str(number), ROOM]
        subprocess.Popen(words, pass_fds=[number], stdin=subprocess.DEVNULL, start_new_session=True)
    return asking
