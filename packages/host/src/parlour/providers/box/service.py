"""What operators see and do: sessions, recent errors, and a probe that shows whether isolation holds."""

import asyncio
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Protocol
from uuid import uuid4

from parlour.core.box.messages import SessionSpec
from parlour.core.box.policy import BoxPolicy
from parlour.core.box.status import BoxFailure, BoxStatus, ProbeResult
from parlour.core.model.ports import Clock
from parlour.core.model.providers import ProviderFailed

from .callers import session_spec
from .connection import BoxConnection
from .results import decoded_output
from .skills import BoxSkills

CALL_SECONDS: Final = "parlour_box_call_seconds"
COMMANDS_TOTAL: Final = "parlour_box_commands_total"
MAX_ERRORS: Final = 200
PROBE_SECONDS: Final = 30.0
TIMEOUT_PROBE_SECONDS: Final = 0.5
PATIENCE_SECONDS: Final = 10.0
Requirement = Literal["succeeds", "fails", "times_out"]
PROBES: Final[Sequence[tuple[str, str, float, Requirement]]] = (
    ("exec", "echo ready > /workspace/probe && cat /workspace/probe", PROBE_SECONDS, "succeeds"),
    ("system_read_only", "touch /usr/probe", PROBE_SECONDS, "fails"),
    ("kernel_settings_read_only", "echo x > /proc/sys/kernel/core_pattern", PROBE_SECONDS, "fails"),
    ("network_off", "exec 3<>/dev/tcp/192.0.2.1/80", PROBE_SECONDS, "fails"),
    ("time_out", "sleep 10", TIMEOUT_PROBE_SECONDS, "times_out"),
)


class BoxMeasurements(Protocol):
    """Collects counts and durations by name and labels."""

    def count(self, name: str, *labels: tuple[str, str]) -> None: ...

    def observe(self, name: str, seconds: float, *labels: tuple[str, str]) -> None: ...


class BoxService:
    """Reads and ends sessions, and tries the Box out."""

    def __init__(
        self, connection: BoxConnection, skills: BoxSkills, clock: Clock, measurements: BoxMeasurements | None = None
    ) -> None:
        self._measurements = measurements
        self._connection = connection
        self._skills = skills
        self._clock = clock
        self._errors: deque[BoxFailure] = deque(maxlen=MAX_ERRORS)

    async def call(self, action: str, data: Mapping[str, Any], seconds: float) -> Any:
        """Makes a call, and remembers its failure. Skills that the Box lacks are sent, and the call is made again."""
        session, started, outcome = data.get("session"), time.perf_counter(), "done"
        try:
            try:
                return self._counted(await self._connection.call(action, dict(data), seconds))
            except ProviderFailed as failure:
                if failure.code != "skill_missing" or not isinstance(session, dict):
                    raise
            await self._skills.send(session["skills"])
            return self._counted(await self._connection.call(action, dict(data), seconds))
        except ProviderFailed as failure:
            outcome = failure.code
            session_id = str(session.get("session_id", "")) if isinstance(session, dict) else ""
            self._errors.append(BoxFailure(self._clock.now(), action, session_id, failure.code, failure.message))
            raise
        finally:
            if self._measurements is not None:
                taken, labels = time.perf_counter() - started, (("action", action), ("outcome", outcome))
                self._measurements.observe(CALL_SECONDS, taken, *labels)

    def _counted(self, result: Any) -> Any:
        """Counts how a command ended, and returns its result."""
        if self._measurements is not None and "status" in result and "code" in result:
            labels = (("status", str(result["status"])), ("reason", str(result.get("reason") or "")))
            self._measurements.count(COMMANDS_TOTAL, *labels)
        return result

    async def status(self) -> BoxStatus:
        """Returns the status, with the number of sessions. Starts the Box if that has not happened yet."""
        status = await self._connection.wait_until_known(PATIENCE_SECONDS)
        if status.state != "ready":
            return status
        try:
            facts = await self._connection.call("box_status", None)
        except ProviderFailed:
            return self._connection.status
        return BoxStatus("ready", facts=facts)

    def errors(self) -> list[BoxFailure]:
        """Returns the last failures, the newest first."""
        return list(reversed(self._errors))

    async def sessions(self) -> list[dict[str, Any]]:
        """Returns the live sessions; none if the Box is not ready."""
        if self._connection.status.state != "ready":
            return []
        answer = await self._connection.call("box_session_list", None)
        return list(answer["sessions"])

    async def end_session(self, session_id: str) -> bool:
        """Ends a session with everything in it. Returns whether there was one."""
        answer = await self._connection.call("box_session_delete", {"session_id": session_id})
        return bool(answer["deleted"])

    async def list_files(self, session: Mapping[str, Any], path: str) -> dict[str, Any]:
        """Lists a folder in the workspace of a live session."""
        spec = SessionSpec.model_validate(dict(session))
        request = {"session": spec.model_dump(), "operation": "list", "fields": {"path": path or "/workspace"}}
        answer: dict[str, Any] = await self.call("box_file", request, PROBE_SECONDS)
        return answer

    async def probe(self) -> list[ProbeResult]:
        """Runs commands that show whether the limits hold, in a session of its own."""
        await self._connection.wait_until_known(PATIENCE_SECONDS)
        spec = session_spec(BoxPolicy(), f"probe {uuid4()}", "default")
        try:
            return [await self._probe(spec, *probe) for probe in PROBES]
        finally:
            await asyncio.shield(self._forget(spec))

    async def _probe(
        self, spec: SessionSpec, name: str, command: str, seconds: float, requirement: Requirement
    ) -> ProbeResult:
        started_at = self._clock.now()
        request = {"session": spec.model_dump(), "command": command, "timeout_seconds": seconds}
        result = await self.call("box_exec", request, seconds + PROBE_SECONDS)
        has_ended = result["status"] == "completed"
        is_ok = {
            "succeeds": has_ended and result["code"] == 0,
            "fails": has_ended and result["code"] != 0,
            "times_out": result["status"] == "timed_out",
        }[requirement]
        output = (decoded_output(result["stdout"]) + decoded_output(result["stderr"])).strip()
        return ProbeResult(name, is_ok, output[:300], self._clock.now() - started_at)

    async def _forget(self, spec: SessionSpec) -> None:
        try:
            await self.end_session(spec.session_id)
        except ProviderFailed:
            return  # the Box has ended, and its sessions with it
