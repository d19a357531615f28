"""The outcome of a run: everything that a test may want to assert in one line."""

from typing import Any

from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.results import AgentRunResult
from parlour_sdk.protocol.runs import RunUsage
from parlour_sdk.protocol.steering import SteeringItem

from ..values import dataclass
from .records import HostRecords
from .served.actions import FakeAction
from .served.artifacts import FakeArtifact
from .sessions import RecordedCall, Session


@dataclass(frozen=True, slots=True)
class FakeRunEnd:
    """The end of a run and its reason; `code` is the finish reason of a completed run."""

    status: str
    code: str = ""
    error: str = ""
    retryable: bool = False


class FakeRunOutcome:
    """The results and records of one run; they grow while it is active."""

    def __init__(self, context: AgentRunContext, session: Session, facts: HostRecords) -> None:
        self.context = context
        """The context that the runner received."""
        self.session = session
        self.records = facts
        self.results: list[AgentRunResult] = []
        """The accepted results, in order."""
        self.messages: list[Message] = []
        """The messages that the user received, each with its artifacts."""
        self.deltas: list[str] = []
        self.ending: FakeRunEnd | None = None
        self.reported_usage: RunUsage | None = None
        self._state: dict[str, dict[str, Any]] | None = None

    @property
    def run_id(self) -> str:
        return self.context.run_id

    @property
    def text(self) -> str:
        """The text of all messages, one per line."""
        return "\n".join(plain_text(message.content) for message in self.messages)

    @property
    def status(self) -> str:
        """The state of the run: running, completed, failed, cancelled or timeout."""
        return self.ending.status if self.ending else "running"

    @property
    def finish_reason(self) -> str | None:
        return self.ending.code if self.ending and self.ending.status == "completed" else None

    @property
    def code(self) -> str | None:
        """The error code of a run that did not complete."""
        return self.ending.code if self.ending and self.ending.status != "completed" else None

    @property
    def error(self) -> str | None:
        """The error message of a run that did not complete."""
        return self.ending.error if self.ending and self.ending.status != "completed" else None

    @property
    def exception(self) -> Exception | None:
        """The exception that the runner's code raised."""
        return self.session.raised

    @property
    def retryable(self) -> bool:
        return self.ending is not None and self.ending.retryable

    @property
    def silent(self) -> bool:
        return self.finish_reason == "silent" and not self.messages

    def failed_with(self, code: str) -> bool:
        return self.status in ("failed", "timeout", "cancelled") and self.code == code

    @property
    def state(self) -> dict[str, dict[str, Any]]:
        """The state by scope, as it was at the end of the run."""
        return self.records.state.snapshot(self.session.grant.scopes) if self._state is None else self._state

    @property
    def artifacts(self) -> list[FakeArtifact]:
        """The artifacts that the run created, in order."""
        return self.records.artifacts.for_run(self.run_id)

    @property
    def actions(self) -> list[FakeAction]:
        """The actions that the run requested on the platform, in order."""
        return self.records.actions.for_run(self.run_id)

    def end(self, ending: FakeRunEnd) -> None:
        self.ending = ending
        self._state = self.state

    @property
    def calls(self) -> list[RecordedCall]:
        """All calls that the run made to the Host."""
        return self.session.calls

    @property
    def tool_calls(self) -> list[tuple[str, dict[str, Any]]]:
        """The successful tool calls: name and parameters."""
        requests = [call.arguments for call in self.calls if call.action == "call_tool" and call.error is None]
        return [(arguments["tool_name"], arguments.get("parameters", {})) for arguments in requests]

    @property
    def warnings(self) -> list[str]:
        """Messages about what the Host ignored in this run, and why."""
        return self.session.warnings

    @property
    def usage(self) -> RunUsage:
        """The usage that the runner reported, or else the sum of its model calls."""
        return self.reported_usage or self.session.usage

    @property
    def unpulled(self) -> list[SteeringItem]:
        """Messages that arrived while the run was active and that it never pulled."""
        return list(self.session.waiting)

    def __repr__(self) -> str:
        """Returns a summary in one line, reasons first, because a test report shows only the beginning."""
        details = [f"{self.status}{f' ({self.ending.code})' if self.ending and self.ending.code else ''}"]
        if self.exception is not None:
            details.append(f"raised {self.exception!r}")
        elif self.error:
            details.append(self.error)
        details += [f"refused {call!r}" for call in self.calls if call.error]
        details += [f"warning: {warning}" for warning in self.warnings]
        details.append(f"said {self.text!r}")
        return f"FakeRun({', '.join(details)})"

    def __str__(self) -> str:
        """Returns the whole course of the run, line by line."""
        lines = [f"run {self.run_id}: {self.status} {self.ending.code if self.ending else ''}".rstrip()]
        lines += [f"  input     {self.context.input.text!r}"]
        lines += [f"  error     {self.error}"] if self.error else []
        lines += [f"  raised    {self.exception!r}"] if self.exception else []
        lines += [f"  warning   {warning}" for warning in self.warnings]
        lines += [f"  call      {call!r}" for call in self.calls]
        lines += [f"  result    {result.type} {result.data!r}"[:160] for result in self.results]
        return "\n".join(lines)
