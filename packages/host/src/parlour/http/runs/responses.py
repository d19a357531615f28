"""Response schemas of runs, their events and deliveries."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from ..events.event_schema import EventResponse
from ..feedback.responses import FeedbackResponse
from ..responses import Id, Micros, TimestampMs

RunStatus = Literal[
    "created", "queued", "claimed", "running", "waiting_approval", "completed", "failed", "cancelled", "timeout"
]


@with_config(ConfigDict(extra="allow"))
class RunUsageResponse(TypedDict, total=False):
    """What the Host counted; a runner may tell of more. What did not happen is left out."""

    model_calls: int
    tool_calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    cost_micros: Micros
    unpriced_calls: int
    """Calls without a known price, because the model has none or the call was cut off; their cost is not included."""
    calling: list[str]
    """Models whose calls are in progress."""


class RunFacts(TypedDict):
    run_id: Id
    event_id: str
    status: RunStatus
    status_reason: str | None
    error: Annotated[str | None, Field(description="In words")]
    agent_id: Id | None
    binding_id: str | None
    runner_id: str
    plugin_id: str
    workspace_id: str
    conversation_id: Id | None
    thread_id: str | None
    bot_id: Id | None
    parent_run_id: Annotated[Id | None, Field(description="The attempt before")]
    rerun_of: Id | None
    attempt: int
    created_at: TimestampMs
    started_at: TimestampMs | None
    finished_at: TimestampMs | None
    updated_at: TimestampMs
    deadline_at: TimestampMs | None
    cancel_requested_at: TimestampMs | None
    claimed_by: Annotated[str | None, Field(description="The worker that executes it, or did")]
    usage: RunUsageResponse
    metadata: dict[str, Any]


class RunRecord(RunFacts):
    authorization: Annotated[
        dict[str, Any], Field(description="What it was granted when it began: `apis` and `resources`")
    ]


class RunContext(TypedDict):
    """Context of a run: its agent and the event that it answers."""

    agent_name: Annotated[str | None, Field(description="Null when the agent is gone")]
    event_type: str | None
    actor_name: str | None
    input_summary: Annotated[str | None, Field(description="How the text that it answers begins")]


class RunListItem(RunFacts, RunContext):
    """A run in a list; what it was granted is told by the run itself."""


class RunSide(TypedDict):
    """One side of a comparison."""

    run_id: Id
    agent_id: Id | None
    runner_id: str
    status: RunStatus
    error: str | None
    usage: RunUsageResponse
    started_at: TimestampMs | None
    finished_at: TimestampMs | None
    texts: list[str]


class RerunListItem(TypedDict):
    run_id: Id
    agent_id: str
    status: RunStatus


class RunResponse(RunRecord, RunContext):
    """A run begun or ended just now."""


class RunEventResponse(TypedDict):
    run_id: Id
    sequence: int
    type: str
    """Such as `message.completed`, `tool.call.started`, `model.called`, `state.updated`."""
    data: Any
    source: str
    """Who said so: `runner` or `host`."""
    first_sequence: int | None
    last_sequence: int | None
    created_at: TimestampMs
    artifact_refs: list[dict[str, Any]]
    metadata: dict[str, Any]


class ModelCallResponse(TypedDict):
    """A call of a model: what it was asked and what it answered, without secrets."""

    call_id: Id
    run_id: Id
    model_id: Id
    outcome: str
    """`answered`, or the code of what went wrong."""
    request: Annotated[
        dict[str, Any], Field(description="`messages`, `tools` and `parameters`; or what was to be embedded or ranked")
    ]
    answer: Annotated[
        dict[str, Any], Field(description="`text`, `reasoning`, `tool_calls` and `finish_reason`; or `error`")
    ]
    truncated: Annotated[
        bool, Field(description="Long texts were cut or media left out; a note says so in their place")
    ]
    started_at: TimestampMs
    finished_at: TimestampMs


class DeliveryResponse(TypedDict):
    """Something that was to be shown to people."""

    outbox_id: Id
    kind: Literal["message", "notice", "approval", "action"]
    surface: str
    """Where: `webui`, `api` or `platform`."""
    target: str
    bot_id: Id | None
    conversation_id: Id | None
    state: Literal["pending", "streaming", "sending", "held", "sent", "failed", "expired"]
    reason: str | None
    """Why it was not sent."""
    text: str | None
    attempts: int
    possibly_repeated: bool
    """Whether the first try arrived is not known."""
    platform_message_id: str | None
    created_at: TimestampMs
    updated_at: TimestampMs


class Denial(TypedDict):
    """Something that the run asked for and did not get."""

    action: str
    outcome: str
    code: str
    created_at: TimestampMs
    resource: str | None
    scope: str | None


class ReplayResponse(TypedDict):
    run_id: Id
    frames: list[dict[str, Any]]
    """Frames of the chat socket, each with `at`, its time."""
    complete: bool
    """False when the run is longer than what is told."""


class RunComparison(TypedDict, total=False):
    """The fields of a run that depend on whether it is a rerun."""

    reruns: list[RerunListItem]
    texts: list[str]
    original: RunSide | None


class RunDetail(RunRecord, RunContext):
    """Of a rerun, `texts` and `original` let it be compared; of another run, `reruns` lists what was made of it."""

    event: EventResponse | None
    deliveries: list[DeliveryResponse]
    """The first hundred; /runs/{run_id}/deliveries has them all."""
    denials: list[Denial]
    feedback: list[FeedbackResponse]
    reruns: NotRequired[list[RerunListItem]]
    texts: NotRequired[list[str]]
    original: NotRequired[RunSide | None]
