"""Commands and managed processes: each in a session of its own, with its outputs read without blocking."""

import base64
import contextlib
import functools
import os
import resource
import selectors
import signal
import subprocess
import time

from files import ROOT, Fields, Refused, resolve  # type: ignore[import-not-found]  # a neighbour in the sandbox

KEPT_BYTES = 448 * 1024
"""Bytes at the beginning of each output of a command that are kept."""
TAIL_BYTES = 64 * 1024
"""Bytes at the end of an output that are kept beyond that."""
MAX_STDIN_BYTES = 4 * 1024 * 1024
"""Bytes that may wait for a managed process that does not read its input."""
SHELL = "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
STREAMS = ("stdout", "stderr")


def _limit_memory(megabytes: int) -> None:
    """Limits the memory that a process may write to. Address space that is only reserved does not count."""
    limit = megabytes * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


class CommandOutput:
    """Keeps the beginning and the end of a stream."""

    def __init__(self) -> None:
        self.head = bytearray()
        self.tail = bytearray()
        self.total = 0

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = max(0, KEPT_BYTES - len(self.head))
        self.head += chunk[:room]
        self.tail = (self.tail + chunk[room:])[-TAIL_BYTES:]

    def fields(self) -> Fields:
        kept = bytes(self.head) + bytes(self.tail)
        return {"data": base64.b64encode(kept).decode(), "bytes": self.total, "head": len(self.head)}


class AgentCommand:
    """A process that runs a command. With a process id it is a managed one, whose streams are passed on."""

    def __init__(self, request: Fields, selector: selectors.BaseSelector) -> None:
        self.request_id: int = request["id"]
        self.process_id: str = request.get("process_id", "")
        self.outputs = {name: CommandOutput() for name in STREAMS}
        self.started_at = time.monotonic()
        self.deadline: float | None = self.started_at + request["timeout"] if request.get("timeout") else None
        self._selector = selector
        self._input = bytearray()
        self._process = subprocess.Popen(
            request.get("argv") or [SHELL, "-c", request["command"]],
            stdin=subprocess.PIPE if self.process_id else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=resolve(request.get("workdir") or ROOT),
            env={**os.environ, **request.get("env", {})},
            start_new_session=True,
            preexec_fn=functools.partial(_limit_memory, request["memory_mb"]) if request.get("memory_mb") else None,
        )
        self.pipes = {name: getattr(self._process, name) for name in STREAMS}
        for pipe in (*self.pipes.values(), *filter(None, [self._process.stdin])):
            os.set_blocking(pipe.fileno(), False)

    @property
    def code(self) -> int | None:
        return self._process.poll()

    def read(self, name: str) -> bytes | None:
        """Returns what there is to read: None if nothing, and nothing at the end."""
        pipe = self.pipes[name]
        try:
            chunk = os.read(pipe.fileno(), 65536)
        except BlockingIOError:
            return None
        if not chunk:
            self._selector.unregister(pipe)
            pipe.close()
        return chunk

    def close(self) -> None:
        """Closes the pipes, which a process in the background may still hold."""
        for pipe in self.pipes.values():
            if not pipe.closed:
                self._selector.unregister(pipe)
                pipe.close()
        if self._process.stdin is not None:
            self._watch_input(False)
            self._process.stdin.close()

    def kill(self, number: int = signal.SIGKILL) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def wait(self) -> None:
        self._process.wait()

    def feed(self, data: bytes) -> None:
        """Writes to the input as soon as the process reads it. No bytes close the input."""
        if not data:
            assert self._process.stdin is not None
            self._process.stdin.close()
            return
        if len(self._input) + len(data) > MAX_STDIN_BYTES:
            raise Refused("process_conflict", "the process does not read its input")
        self._input += data
        self._write_input()

    def _write_input(self) -> None:
        stdin = self._process.stdin
        if stdin is None or stdin.closed:
            raise Refused("process_not_found", "the input of the process is closed")
        try:
            written = os.write(stdin.fileno(), self._input[:65536])
            del self._input[:written]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._input.clear()
        self._watch_input(bool(self._input))

    def _watch_input(self, is_waiting: bool) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        is_watched = not stdin.closed and stdin in self._selector.get_map()
        if is_waiting and not is_watched:
            self._selector.register(stdin, selectors.EVENT_WRITE, self._write_input)
        elif is_watched and not is_waiting:
            self._selector.unregister(stdin)
