"""The context of one run: everything that is always inline, and cursors to what is not."""

from typing import Any

from pydantic import Field

from .base import Tolerant
from .content import AgentInput, ArtifactRef
from .events import Actor, AgentEvent, AgentTrigger, Conversation, Subject
from .messages import Message
from .resources import AgentResources


class DeliveryContext(Tolerant):
    """Where an answer goes, and what can be done there."""

    surface: str
    reply_target: dict[str, Any] | None = None
    supports_streaming: bool = False
    supports_edit: bool = False
    supports_reaction: bool = False
    max_message_size: int | None = None
    platform_capabilities: list[str] = []


class InlinePolicy(Tolerant):
    """How much of the history was put into `bootstrap`, and why."""

    mode: str = "none"
    """The manifest's `bootstrap`, as far as the Host followed it."""
    delivered_count: int = 0
    source_total_count: int | None = None
    messages_complete: bool = False
    reason: str | None = None


class AvailableApis(Tolerant):
    """Which calls the run may make."""

    history_page: bool = False
    history_search: bool = False
    event_get: bool = False
    event_page: bool = False
    artifact_metadata: bool = False
    artifact_read: bool = False
    artifact_create: bool = False
    state: bool = False
    storage: bool = False
    steering_pull: bool = False
    platform_action: bool = False


class ContextAccess(Tolerant):
    """Cursors to what is not inline, and the way there."""

    conversation_id: str | None = None
    thread_id: str | None = None
    latest_cursor: str | None = None
    """The end of the transcript when the run began."""
    event_seq: int | None = None
    transcript_seq: int | None = None
    has_history_before: bool = False
    inline_policy: InlinePolicy = Field(default_factory=InlinePolicy)
    available_apis: AvailableApis = Field(default_factory=AvailableApis)


class StateSnapshot(Tolerant):
    """State as it was when the run began, by scope."""

    conversation: dict[str, Any] = {}
    actor: dict[str, Any] = {}
    subject: dict[str, Any] = {}
    runner: dict[str, Any] = {}
    binding: dict[str, Any] = {}


class StaticRef(Tolerant):
    """Names a part of the prompt that is the same as long as this is, for runners that reuse a model's cache."""

    hash: str
    version: str


class RuntimeContext(Tolerant):
    """The Host, the attempt and the time that is left."""

    host: str = "parlour"
    host_version: str | None = None
    trace_id: str
    attempt: int
    """1 for the first; a retry is a new run with the next number."""
    deadline_at: int | None = None
    locale: str | None = None
    timezone: str | None = None
    static_refs: dict[str, StaticRef] = {}
    """Of the agent's prompt, tool schemas and resource list."""
    metadata: dict[str, Any] = {}


class Bootstrap(Tolerant):
    """History that the runner asked to have inline."""

    messages: list[Message] = []
    summary: str | None = None
    artifacts: list[ArtifactRef] = []
    metadata: dict[str, Any] = {}


class AdapterContext(Tolerant):
    """Particular to the way the event came in: never prompts, history or grants."""

    name: str | None = None
    extra: dict[str, Any] = {}


class AgentRunContext(Tolerant):
    """Everything that a runner is told when its run begins."""

    run_id: str
    trigger: AgentTrigger
    event: AgentEvent
    conversation: Conversation | None = None
    actor: Actor | None = None
    subject: Subject | None = None
    input: AgentInput
    delivery: DeliveryContext
    resources: AgentResources
    context: ContextAccess
    state: StateSnapshot
    runtime: RuntimeContext
    config: dict[str, Any] = {}
    """The binding's configuration, as the runner's form asked for it."""
    bootstrap: Bootstrap | None = None
    adapter: AdapterContext | None = None
    metadata: dict[str, Any] = {}


class AgentRunRequest(Tolerant):
    """The request of `run_agent`, which is answered by a stream of AgentRunResult."""

    runner_id: str
    runner_name: str
    context: AgentRunContext
