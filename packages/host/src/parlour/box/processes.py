"""Managed processes of a session: programs that run until they are stopped, with streams to attach to."""

import asyncio
import base64
import time
from collections import deque
from collections.abc import AsyncGenerator
from typing import Any, Final

from parlour.core.box.messages import ProcessSpec

from .backend import Sandbox
from .errors import BoxError

MAX_PROCESSES: Final = 16
"""Live processes of one session."""
MAX_UNREAD_BYTES: Final = 8 * 1024 * 1024
"""Output that may wait for who is attached; a process that writes more is stopped."""
KEPT_ERROR_CHARACTERS: Final = 4000
KEPT_SECONDS: Final = 300.0
"""Seconds for which an ended process is listed."""


class ManagedProcess:
    """A process with its unread output and its exit status."""

    def __init__(self, spec: ProcessSpec, sandbox: Sandbox) -> None:
        self.spec = spec
        self.started_at = time.time()
        self.exited_at: float | None = None
        self.exit_code: int | None = None
        self.reason = ""
        self.is_attached = False
        self._sandbox = sandbox
        self._unread: deque[bytes] = deque()
        self._unread_bytes = 0
        self._errors = ""
        self._changed = asyncio.Event()

    @property
    def is_running(self) -> bool:
        return self.exited_at is None

    def fields(self) -> dict[str, Any]:
        """Returns what is shown of it: names of its variables, but no values."""
        return {
            "process_id": self.spec.process_id,
            "command": [self.spec.command, *self.spec.args],
            "environment": sorted(self.spec.environment),
            "status": "running" if self.is_running else "exited",
            "attached": self.is_attached,
            "started_at": round(self.started_at * 1000),
            "exited_at": None if self.exited_at is None else round(self.exited_at * 1000),
            "exit_code": self.exit_code,
            "reason": self.reason,
            "stderr_preview": self._errors,
        }

    def on_event(self, event: dict[str, Any]) -> None:
        """Takes output of the process, or its end."""
        if "exited" in event:
            self.end(event["exited"])
            return
        data = base64.b64decode(event["data"])
        if event["stream"] == "stderr":
            self._errors = (self._errors + data.decode(errors="replace"))[-KEPT_ERROR_CHARACTERS:]
        elif self.reason:
            return  # it is being stopped
        elif self._unread_bytes + len(data) <= MAX_UNREAD_BYTES:
            self._unread.append(data)
            self._unread_bytes += len(data)
        else:
            self.reason = f"it wrote more than {MAX_UNREAD_BYTES} bytes that nothing read"
        self._changed.set()

    def end(self, code: int | None) -> None:
        """Marks the process as ended; without a code its sandbox has ended with it."""
        if self.exited_at is None:
            self.exited_at, self.exit_code = time.time(), code
            self._changed.set()

    async def feed(self, data: str) -> None:
        """Writes to its input. No bytes close the input."""
        self._require_running()
        await self._sandbox.request("feed", {"process_id": self.spec.process_id, "data": data})

    async def stop(self, force: bool) -> None:
        """Sends SIGTERM, or SIGKILL with `force`, to the process and what it started in its group."""
        if not self.is_running:
            return
        try:
            await self._sandbox.request("stop", {"process_id": self.spec.process_id, "force": force})
        except BoxError as error:
            if error.code not in ("process_not_found", "session_lost"):  # it has ended in the meantime
                raise

    async def attach(self) -> AsyncGenerator[dict[str, Any], None]:
        """Yields its output, and how it ended. Only one caller at a time can be attached."""
        if self.is_attached:
            raise BoxError("process_conflict", f"another caller is attached to the process '{self.spec.process_id}'")
        self.is_attached = True
        try:
            while True:
                while self._unread:
                    data = self._unread.popleft()
                    self._unread_bytes -= len(data)
                    yield {"data": base64.b64encode(data).decode()}
                if self.reason and self.is_running:
                    await self.stop(force=True)
                if not self.is_running:
                    last = self._errors.strip().rpartition("\n")[2]
                    yield {"exited": self.exit_code, "reason": self.reason, "stderr": last[:300]}
                    return
                self._changed.clear()
                await self._changed.wait()
        finally:
            self.is_attached = False

    def _require_running(self) -> None:
        if not self.is_running:
            raise BoxError("process_not_found", f"the process '{self.spec.process_id}' has ended")


class SessionProcesses:
    """The managed processes of one session."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._processes: dict[str, ManagedProcess] = {}

    def __bool__(self) -> bool:
        """Returns whether a process keeps the session."""
        return any(process.is_running for process in self._processes.values())

    def all(self) -> list[ManagedProcess]:
        """Returns the live processes, and those that ended lately."""
        now = time.time()
        for name, process in list(self._processes.items()):
            if process.exited_at is not None and now - process.exited_at > KEPT_SECONDS:
                del self._processes[name]
        return list(self._processes.values())

    def get(self, process_id: str) -> ManagedProcess:
        process = self._processes.get(process_id)
        if process is None:
            raise BoxError("process_not_found", f"there is no process '{process_id}'")
        return process

    async def start(self, spec: ProcessSpec) -> ManagedProcess:
        known = self._processes.get(spec.process_id)
        if known is not None and known.is_running:
            raise BoxError("process_conflict", f"the process '{spec.process_id}' runs already")
        if sum(process.is_running for process in self._processes.values()) >= MAX_PROCESSES:
            raise BoxError("process_conflict", f"a session has at most {MAX_PROCESSES} managed processes")
        process = self._processes[spec.process_id] = ManagedProcess(spec, self._sandbox)
        request = {
            "process_id": spec.process_id,
            "argv": [spec.command, *spec.args],
            "env": spec.environment,
            "workdir": spec.workdir,
            "memory_mb": spec.memory_mb,
        }
        try:
            await self._sandbox.request("start", request)
        except BoxError:
            del self._processes[spec.process_id]
            raise
        return process

    def on_event(self, event: dict[str, Any]) -> None:
        process = self._processes.get(str(event.get("process", "")))
        if process is not None:
            process.on_event(event)

    def end(self) -> None:
        """Marks all as ended, since their sandbox has."""
        for process in self._processes.values():
            process.end(None)
