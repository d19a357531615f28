"""A backend of the Box whose sandboxes are scripted: no process is started."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any

from parlour.box.backend import BackendInfo, Fields, SandboxFolders
from parlour.box.errors import BoxError, SandboxGone
from parlour.core.box.messages import SessionSpec

Answer = Callable[[str, Fields], Awaitable[Fields]]


def exec_result(stdout: str = "", code: int = 0, status: str = "completed") -> Fields:
    """Returns the result of a command as an agent sends it."""
    data = stdout.encode()
    output = {"data": base64.b64encode(data).decode(), "bytes": len(data), "head": len(data)}
    return {"status": status, "code": code, "stdout": output, "stderr": {"data": "", "bytes": 0, "head": 0}}


async def succeed(operation: str, fields: Fields) -> Fields:
    return exec_result(str(fields.get("command", "")))


class FakeSandbox:
    """A sandbox that answers as the test says."""

    def __init__(self, spec: SessionSpec, answer: Answer) -> None:
        self.spec = spec
        self.closed = asyncio.Event()
        self.requests: list[tuple[str, Fields]] = []
        self.reason = ""
        self._answer = answer

    async def request(self, operation: str, fields: Fields) -> Fields:
        if self.closed.is_set():
            raise SandboxGone
        self.requests.append((operation, fields))
        return await self._answer(operation, fields)

    def death_reason(self) -> str:
        reason, self.reason = self.reason, ""
        return reason

    async def close(self) -> None:
        self.closed.set()


class FakeBackend:
    """Starts such sandboxes, and keeps them in `started`."""

    def __init__(self, answer: Answer = succeed) -> None:
        self.started: list[FakeSandbox] = []
        self.answer = answer
        self.gates: dict[str, asyncio.Event] = {}
        """Sessions whose start waits for the test."""
        self.failures: list[BoxError] = []
        """Errors of the next starts."""

    @property
    def alive(self) -> list[FakeSandbox]:
        return [sandbox for sandbox in self.started if not sandbox.closed.is_set()]

    async def probe(self) -> BackendInfo:
        return BackendInfo("fake", "1", "rlimit", "advisory")

    async def remove_orphans(self) -> int:
        return 0

    async def start(
        self, spec: SessionSpec, folders: SandboxFolders, on_event: Callable[[dict[str, Any]], None]
    ) -> FakeSandbox:
        gate = self.gates.get(spec.session_id)
        if gate is not None:
            await gate.wait()
        if self.failures:
            raise self.failures.pop(0)
        sandbox = FakeSandbox(spec, self.answer)
        self.started.append(sandbox)
        return sandbox

    async def close(self) -> None:
        """Has nothing to remove."""
