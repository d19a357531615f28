"""The ledger's runs and their events, and how they are created, followed and controlled."""

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from .base import Count, Positive, Request, Strict, Tolerant, require_one
from .calls import Call
from .content import AgentInput, ArtifactRef
from .context import AgentRunContext
from .events import Actor, Subject
from .limits import PAGE_ITEMS
from .results import AgentRunResult

RunStatus = Literal[
    "created",
    "queued",
    "claimed",
    "running",
    "waiting_approval",
    "completed",
    "failed",
    "cancelled",
    "timeout",
]
TRANSITIONS: dict[RunStatus, tuple[RunStatus, ...]] = {
    "created": ("queued", "running", "cancelled", "failed"),
    "queued": ("claimed", "cancelled", "timeout"),
    "claimed": ("running", "queued", "cancelled", "failed", "timeout"),
    "running": ("waiting_approval", "completed", "failed", "cancelled", "timeout"),
    "waiting_approval": ("running", "cancelled", "timeout", "failed"),
    "completed": (),
    "failed": (),
    "cancelled": (),
    "timeout": (),
}
"""Allowed transitions by status; any other is an error and changes nothing."""


class RunUsage(Tolerant):
    """What a run has used so far."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost_micros: int = 0
    model_calls: int = 0
    tool_calls: int = 0


class AgentRun(Tolerant):
    """One run as the ledger has it."""

    run_id: str
    event_id: str
    agent_id: str | None = None
    binding_id: str | None = None
    runner_id: str
    plugin_id: str
    conversation_id: str | None = None
    thread_id: str | None = None
    workspace_id: str | None = None
    bot_id: str | None = None
    status: RunStatus
    status_reason: str | None = None
    created_at: int
    started_at: int | None = None
    finished_at: int | None = None
    updated_at: int
    deadline_at: int | None = None
    cancel_requested_at: int | None = None
    attempt: int
    parent_run_id: str | None = None
    """Of the run that this one retries, or that created it."""
    claimed_by: str | None = None
    """The remote runtime that executes it."""
    lease_until: int | None = None
    usage: RunUsage = Field(default_factory=RunUsage)
    authorization: dict[str, Any] = {}
    """The snapshot of what the run may touch, frozen before it started."""
    metadata: dict[str, Any] = {}


class AgentRunEvent(Tolerant):
    """One step of a run as the ledger has it."""

    run_id: str
    sequence: int
    last_sequence: int | None = None
    """Of a stretch of deltas that is stored as one."""
    type: str
    data: dict[str, Any] = {}
    created_at: int
    source: str
    artifact_refs: list[ArtifactRef] = []
    metadata: dict[str, Any] = {}


class NewRunEvent(Request):
    """The event that a created run answers."""

    event_type: str = "api.invoked"
    event_id: str | None = None
    conversation_id: str | None = None
    thread_id: str | None = None
    actor: Actor | None = None
    subject: Subject | None = None
    input: AgentInput = Field(default_factory=AgentInput)
    data: dict[str, Any] = {}


class RunCreate(Call):
    """Starts a run of an agent, or of a runner with its configuration: exactly one of the two is named."""

    ONE_OF: ClassVar = ("agent_id", "runner_id")

    agent_id: str | None = None
    runner_id: str | None = None
    event: NewRunEvent
    config: dict[str, Any] | None = None
    labels: list[str] = []
    """Asked of the remote runtime that takes the run; without them the Host runs it itself."""
    queue: bool = False
    """Wait for a remote runtime to claim it."""

    @model_validator(mode="after")
    def _one_target(self) -> "RunCreate":
        require_one(self, self.ONE_OF)
        return self


class RunGet(Call):
    """Asks how a run is doing."""

    target_run_id: str


class RunList(Call):
    """Asks for runs, the newest first."""

    status: RunStatus | None = None
    agent_id: str | None = None
    runner_id: str | None = None
    conversation_id: str | None = None
    cursor: str | None = None
    limit: int = Field(default=50, ge=1, le=PAGE_ITEMS)


class RunPage(Strict):
    """A page of runs."""

    items: list[AgentRun] = []
    next_cursor: str | None = None
    has_more: bool = False


class RunEventsPageGet(Call):
    """Asks for what happened in a run, in order."""

    target_run_id: str
    after_sequence: Count = 0
    limit: int = Field(default=50, ge=1, le=PAGE_ITEMS)


class RunEventsPage(Strict):
    """A page of what happened in a run."""

    items: list[AgentRunEvent] = []
    has_more: bool = False


class RunCancel(Call):
    """Ends a run early."""

    target_run_id: str
    reason: str | None = None


class RunAppendResult(Call):
    """Hands in a result; it has the same effects as one of an online run."""

    target_run_id: str
    result: AgentRunResult
    lease: str | None = None
    """Of the claim; a stale one is refused."""


class RunFinalize(Call):
    """Ends a run from outside its stream."""

    target_run_id: str
    status: Literal["completed", "failed", "cancelled", "timeout"]
    error: str | None = None
    code: str | None = None
    lease: str | None = None


class RunRetry(Call):
    """Asks for a new run of the same event."""

    target_run_id: str


class RunClaim(Call):
    """A runtime asks for a queued run that it can execute."""

    runtime_id: str
    labels: list[str] = []
    runners: list[str] = []
    slots: Positive = 1
    """How many more runs it can take."""
    wait_seconds: float = Field(default=0, ge=0, le=60)
    """Long polling for those who can't be woken."""


class ClaimedRun(Tolerant):
    """A run that is now this runtime's, for as long as it renews the lease."""

    run: AgentRun
    context: AgentRunContext
    lease: str
    lease_until: int


class ClaimResult(Tolerant):
    """The run that was claimed; nothing when there was none to claim."""

    claimed: ClaimedRun | None = None


class RunRenew(Call):
    """Keeps a claim."""

    target_run_id: str
    lease: str


class LeaseRenewed(Tolerant):
    """How long the claim holds, and whether the run is wanted at all."""

    lease_until: int
    cancel_requested: bool = False


class RunRelease(Call):
    """Gives a claimed run back."""

    target_run_id: str
    lease: str
    reason: str | None = None
