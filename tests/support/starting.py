"""Starts the commands of tests. Tests that run side by side fork one process that has loaded all modules; tests that
run alone start commands as users do, so that measurements match what users have.
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
    """Mimics `subprocess.Popen` for a process that the fork server has started."""

    def __init__(self, command: list[str], status_pipe: socket.socket) -> None:
        self.args = command
        self.returncode: int | None = None
        self._status_pipe = status_pipe
        self.pid = self._read_number()

    def poll(self) -> int | None:
        return self.returncode if self.returncode is not None or not self._has_status(0) else self._read_exit_status()

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is not None:
            return self.returncode
        if not self._has_status(timeout):
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self._read_exit_status()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ended just now
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _has_status(self, seconds: float | None) -> bool:
        looking = select.poll()
        looking.register(self._status_pipe, select.POLLIN)
        return bool(looking.poll(None if seconds is None else seconds * 1000))

    def _read_exit_status(self) -> int:
        self.returncode = self._read_number()
        self._status_pipe.close()
        return self.returncode

    def _read_number(self) -> int:
        line = b""
        while not line.endswith(b"\n"):
            more = self._status_pipe.recv(1)
            assert more, "the process that starts others has ended"
            line += more
        return int(line)


Process = subprocess.Popen[bytes] | Forked


def start(command: list[str], environment: Mapping[str, str], output: IO[bytes], errors: IO[bytes]) -> Process:
    """Starts the command in a session of its own."""
    if "PYTEST_XDIST_WORKER" in os.environ and _python(environment) == _python(os.environ):
        return fork(command, environment, output, errors)
    return spawn(command, environment, output, errors)


def spawn(command: list[str], environment: Mapping[str, str], output: IO[bytes], errors: IO[bytes]) -> Process:
    return subprocess.Popen(command, env=environment, stdout=output, stderr=errors, start_new_session=True)


def fork(command: list[str], environment: Mapping[str, str], output: IO[bytes], errors: IO[bytes]) -> Forked:
    status_pipe, child_pipe = socket.socketpair()
    with child_pipe:
        request = json.dumps({"command": command, "environment": dict(environment)}).encode()
        socket.send_fds(_server(), [request], [output.fileno(), errors.fileno(), child_pipe.fileno()])
    return Forked(command, status_pipe)


def run(command: list[str], environment: Mapping[str, str], seconds: float) -> subprocess.CompletedProcess[str]:
    """Runs the command to its end, which must come within that time."""
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
    """Returns the variables that Python reads only at its start."""
    return {name: value for name, value in environment.items() if name.startswith("PYTHON")}


@functools.cache
def _server() -> socket.socket:
    """Starts the fork server. It ends with this process, because no other process has our end of the socket."""
    asking, asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with asked:
        number = asked.fileno()
        words = [sys.executable, "-P", SERVER, str(number), ROOM]
        subprocess.Popen(words, pass_fds=[number], stdin=subprocess.DEVNULL, start_new_session=True)
    return asking
