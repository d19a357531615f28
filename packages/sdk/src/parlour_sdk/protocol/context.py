"""The context of one run: everything that is always inline, and cursors to what is not."""

from typing import Any

from .base import Tolerant
from .content import AgentInput, ArtifactRef
from .events import Actor, AgentEvent, AgentTrigger, Conversation, Subject
from .messages import Message
from .resources import AgentResources


class DeliveryContext(Tolerant):
    surface: str
    reply_target: dict[str, Any] | None = None
    supports_streaming: bool = False
    supports_edit: bool = False
    supports_reaction: bool = False
    max_message_size: int | None = None
    platform_capabilities: list[str] = []


class InlinePolicy(Tolerant):
    mode: str = "none"
    delivered_count: int = 0
    source_total_count: int | None = None
    messages_complete: bool = False
    reason: str | None = None


class AvailableApis(Tolerant):
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
    conversation_id: str | None = None
    thread_id: str | None = None
    latest_cursor: str | None = None
    event_seq: int | None = None
    transcript_seq: int | None = None
    has_history_before: bool = False
    inline_policy: InlinePolicy = InlinePolicy()
    available_apis: AvailableApis = AvailableApis()


class StateSnapshot(Tolerant):
    conversation: dict[str, Any] = {}
    actor: dict[str, Any] = {}
    subject: dict[str, Any] = {}
    runner: dict[str, Any] = {}
    binding: dict[str, Any] = {}


class StaticRef(Tolerant):
    hash: str
    version: str


class RuntimeContext(Tolerant):
    host: str = "parlour"
    host_version: str | None = None
    trace_id: str
    attempt: int
    deadline_at: int | None = None
    locale: str | None = None
    timezone: str | None = None
    static_refs: dict[str, StaticRef] = {}
    metadata: dict[str, Any] = {}


class Bootstrap(Tolerant):
    messages: list[Message] = []
    summary: str | None = None
    artifacts: list[ArtifactRef] = []
    metadata: dict[str, Any] = {}


class AdapterContext(Tolerant):
    name: str | None = None
    extra: dict[str, Any] = {}


class AgentRunContext(Tolerant):
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
    bootstrap: Bootstrap | None = None
    adapter: AdapterContext | None = None
    metadata: dict[str, Any] = {}


class AgentRunRequest(Tolerant):
    runner_id: str
    runner_name: str
    context: AgentRunContext
