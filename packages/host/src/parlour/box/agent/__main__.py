"""Serves requests on its standard input and output. Messages are JSON with their length in four bytes before it.

Requests are served in their order; commands and searches run beside each other. The first argument has the limits that
no control group applies. In a container there is a second one, the socket of the Box. If it is a dash, messages are
lines instead, for a service that passes texts on.
"""

import base64
import errno
import json
import os
import resource
import selectors
import signal
import socket
import struct
import sys
import time

import container  # type: ignore[import-not-found]  # a neighbour in the sandbox
import search  # type: ignore[import-not-found]
from commands import STREAMS, AgentCommand  # type: ignore[import-not-found]
from files import OPERATIONS, Fields, Refused, is_full  # type: ignore[import-not-found]

OUTBOX = "/workspace/outbox"
SEARCH_SECONDS = 20
QUOTA_ERRORS = (27, 28, 122)
"""EFBIG, ENOSPC and EDQUOT."""
RECEIVED_BYTES = 1024 * 1024


class SandboxAgent:
    """Reads requests, runs commands and sends answers."""

    def __init__(self, requests: int, answers: int, has_lines: bool = False) -> None:
        self._requests = requests
        self._answers = answers
        self._has_lines = has_lines
        self._selector = selectors.DefaultSelector()
        self._buffer = b""
        self._commands: list[AgentCommand] = []
        self._searches: dict[int, tuple[int, float, int]] = {}
        """Request, deadline and pipe by the process that searches."""
        self._selector.register(requests, selectors.EVENT_READ, self._receive)
        woken, wake = socket.socketpair()
        for each in (woken, wake):
            each.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self._wake = wake
        """Must stay open: otherwise the other end is always readable, and the agent never sleeps."""
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        self._selector.register(woken, selectors.EVENT_READ, lambda: woken.recv(4096))

    def run(self) -> None:
        self._send({"id": 0, "result": {"pid": os.getpid()}})
        while True:
            deadlines = [each.deadline for each in self._commands if each.deadline is not None]
            deadlines += [deadline for _, deadline, _ in self._searches.values()]
            wait = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
            for key, _ in self._selector.select(wait):
                key.data()
            self._collect()

    def _send(self, message: Fields) -> None:
        content = json.dumps(message).encode()
        view = memoryview(content + b"\n" if self._has_lines else struct.pack("!I", len(content)) + content)
        while view:
            view = view[os.write(self._answers, view) :]

    def _receive(self) -> None:
        chunk = os.read(self._requests, RECEIVED_BYTES)
        if not chunk:
            sys.exit(0)
        self._buffer += chunk
        while (content := self._next_message()) is not None:
            request = json.loads(content)
            try:
                self._serve(request)
            except Refused as refusal:
                self._fail(request, refusal.code, str(refusal))
            except FileNotFoundError as error:
                self._fail(request, "path_refused", f"{error.filename or request.get('path', '')} does not exist")
            except OSError as error:
                code = "quota_exceeded" if error.errno in QUOTA_ERRORS else "path_refused"
                code = "processes_exceeded" if error.errno == errno.EAGAIN else code
                self._fail(request, code, f"{request.get('path', '')}: {error.strerror}")

    def _next_message(self) -> bytes | None:
        """Takes a whole message out of what was received; None if there is none yet."""
        if self._has_lines:
            content, found, rest = self._buffer.partition(b"\n")
            if not found:
                return None
            self._buffer = rest
            return content
        if len(self._buffer) < 4:
            return None
        end = 4 + int(struct.unpack("!I", self._buffer[:4])[0])
        if len(self._buffer) < end:
            return None
        content, self._buffer = self._buffer[4:end], self._buffer[end:]
        return content

    def _fail(self, request: Fields, code: str, message: str) -> None:
        self._send({"id": request["id"], "error": {"code": code, "message": message}})

    def _serve(self, request: Fields) -> None:
        operation = request["op"]
        if operation == "exec":
            self._start(AgentCommand(request, self._selector))
        elif operation == "start":
            self._start(AgentCommand(request, self._selector))
            self._send({"id": request["id"], "result": {}})
        elif operation in ("glob", "grep"):
            child, pipe = search.fork(request)
            self._searches[child] = (request["id"], time.monotonic() + SEARCH_SECONDS, pipe)
            content = bytearray()
            self._selector.register(pipe, selectors.EVENT_READ, lambda: self._read_search(child, content))
        else:
            answer = self._control(request) if operation in ("feed", "stop") else OPERATIONS[operation](request)
            self._send({"id": request["id"], "result": answer})

    def _start(self, command: AgentCommand) -> None:
        self._commands.append(command)
        for name in STREAMS:
            self._selector.register(
                command.pipes[name], selectors.EVENT_READ, lambda name=name: self._drain(command, name)
            )

    def _control(self, request: Fields) -> Fields:
        """Writes to the input of a managed process, or ends it."""
        for command in self._commands:
            if command.process_id == request["process_id"]:
                if request["op"] == "feed":
                    command.feed(base64.b64decode(request["data"]))
                else:
                    command.kill(signal.SIGKILL if request.get("force") else signal.SIGTERM)
                return {}
        raise Refused("process_not_found", f"there is no process '{request['process_id']}'")

    def _drain(self, command: AgentCommand, name: str) -> bool:
        """Reads an output once. Returns whether there may be more."""
        chunk = command.read(name)
        if chunk and command.process_id:
            self._send({"process": command.process_id, "stream": name, "data": base64.b64encode(chunk).decode()})
        elif chunk:
            command.outputs[name].add(chunk)
        return bool(chunk)

    def _collect(self) -> None:
        """Ends the commands that are over or out of time, and searches that take too long."""
        now = time.monotonic()
        for command in list(self._commands):
            is_late = command.deadline is not None and now >= command.deadline
            if is_late:
                command.kill()
                command.wait()
            if command.code is not None:
                self._finish(command, is_late)
        for child, (_, deadline, _) in list(self._searches.items()):
            if now >= deadline:
                os.kill(child, signal.SIGKILL)
                self._end_search(child, b"")

    def _finish(self, command: AgentCommand, is_late: bool) -> None:
        for name in STREAMS:
            while not command.pipes[name].closed and self._drain(command, name):
                pass
        self._commands.remove(command)
        command.close()
        if command.process_id:
            self._send({"process": command.process_id, "exited": command.code})
            return
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = {
            "status": "timed_out" if is_late else "completed",
            "code": command.code,
            "milliseconds": round((time.monotonic() - command.started_at) * 1000),
            "cpu_seconds": used.ru_utime + used.ru_stime,
            "max_rss_kb": used.ru_maxrss,
            "outbox": os.path.isdir(OUTBOX) and bool(os.listdir(OUTBOX)),
            "full": command.code != 0 and is_full(),
            "pressure": container.pressure(),
            **{name: output.fields() for name, output in command.outputs.items()},
        }
        self._send({"id": command.request_id, "result": result})

    def _read_search(self, child: int, content: bytearray) -> None:
        chunk = os.read(self._searches[child][2], 65536)
        content += chunk
        if not chunk:
            self._end_search(child, bytes(content))

    def _end_search(self, child: int, content: bytes) -> None:
        request_id, _, pipe = self._searches.pop(child)
        self._selector.unregister(pipe)
        os.close(pipe)
        os.waitpid(child, 0)
        if content:
            self._send({"id": request_id, **json.loads(content)})
        else:
            message = f"the search did not end within {SEARCH_SECONDS} s; use a simpler pattern"
            self._fail({"id": request_id}, "timeout", message)


def set_limits(limits: dict[str, int]) -> None:
    """Applies limits that every command inherits."""
    for name, value in limits.items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


if __name__ == "__main__":
    os.umask(0o022)
    set_limits(json.loads(sys.argv[1]))
    has_lines = sys.argv[2:] == ["-"]
    pipes = container.connect(sys.argv[2]) if sys.argv[2:] and not has_lines else (os.dup(0), os.dup(1))
    container.leave_first_process()
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    SandboxAgent(pipes[0], pipes[1], has_lines).run()
