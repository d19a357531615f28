"""One session: a sandbox, the order of its commands, and what is known about it."""

import asyncio
import base64
from typing import Literal

from parlour.core.box.messages import ExecRequest, SessionSpec

from .backend import Fields, Sandbox
from .errors import BoxError
from .processes import SessionProcesses
from .workspaces import OpenWorkspace

SessionState = Literal["ready", "stopping"]
KILL_SIGNAL = 9
SHELL_SIGNAL_OFFSET = 128


class BoxSession:
    """A session with its sandbox. `BoxSessions` serves its requests one after the other."""

    def __init__(self, spec: SessionSpec, sandbox: Sandbox, workspace: OpenWorkspace, now: float, wall: float) -> None:
        self.spec = spec
        self.sandbox = sandbox
        self.workspace = workspace
        self.release: asyncio.Future[None] | None = None
        """Ends the use of the workspace, which happens once."""
        self.created_at = wall
        self.used_at = now
        self.last_used_at = wall
        self.state: SessionState = "ready"
        self.users = 0
        """Requests that wait or run."""
        self.execs = 0
        self.is_over_quota = False
        self.processes = SessionProcesses(sandbox)

    @property
    def is_idle(self) -> bool:
        """True if it may be ended after its idle time: nothing runs in it, and nothing keeps it."""
        return not self.users and not self.processes and not self.spec.persistent

    @property
    def is_alive(self) -> bool:
        return self.state == "ready" and not self.sandbox.closed.is_set()

    async def exec(self, request: ExecRequest) -> Fields:
        """Runs a command and returns its result. The end of its sandbox is a result, too."""
        fields = {
            "command": request.command,
            "workdir": request.workdir,
            "timeout": request.timeout_seconds,
            "env": request.environment,
            "wheels": request.wheels,
        }
        self.execs += 1
        self.sandbox.death_reason()  # what happened before does not count
        try:
            result = await self.sandbox.request("exec", fields)
        except BoxError as error:
            reason = "processes" if error.code == "processes_exceeded" else self._death_reason()
            if error.code not in ("session_lost", "processes_exceeded") or not reason:
                raise
            return self._with_files(_killed(reason))
        return self._with_files(self._with_reason(result))

    async def file(self, operation: str, fields: Fields) -> Fields:
        """Serves a request about files."""
        return await self.sandbox.request(operation, fields)

    def _death_reason(self) -> str:
        return "quota" if self.is_over_quota else self.sandbox.death_reason()

    def _with_reason(self, result: Fields) -> Fields:
        reason, code = self.sandbox.death_reason(), result["code"]
        killed = code in (-KILL_SIGNAL, SHELL_SIGNAL_OFFSET + KILL_SIGNAL)
        if result["status"] == "completed" and reason and (killed or (reason == "processes" and code != 0)):
            return {**result, "status": "killed", "reason": reason}
        if result["status"] == "completed" and result.get("full"):
            return {**result, "reason": "quota"}
        return result

    def _with_files(self, result: Fields) -> Fields:
        """Says that the files end with the sandbox if they are in its memory."""
        return {**result, "files_lost": True} if ends_session(result) and self.workspace.memory_mb else result


def ends_session(result: Fields) -> bool:
    """Returns whether a session can't go on after a command."""
    is_killed = result["status"] == "killed" and (result["code"] is None or result.get("reason") == "processes")
    return is_killed or result["status"] == "timed_out"


def _killed(reason: str) -> Fields:
    nothing = {"data": base64.b64encode(b"").decode(), "bytes": 0, "head": 0}
    return {"status": "killed", "reason": reason, "code": None, "stdout": nothing, "stderr": nothing}
