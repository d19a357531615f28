"""The event that a run answers, and who and what it is about."""

from typing import Any, Literal

from .base import Tolerant

Source = Literal["platform", "webui", "api", "scheduler", "system", "host_adapter"]
ALIASES = {"message.recalled": "message.deleted"}
"""Alternative names of event types."""
PATH_HOOKS = ("message.arriving", "reply.preparing", "text.filtering")
"""Events that wait for their handlers. They reach only handlers and grants that name them; a pattern does not."""
NAMED_EVENTS = (*PATH_HOOKS, "message.filtered")
"""Events that reach only handlers and grants that name them: those that wait, and those that may be frequent."""


class RawRef(Tolerant):
    """Where a payload is kept that is too large to be inline."""

    ref_id: str
    size_bytes: int
    mime_type: str


class AgentTrigger(Tolerant):
    """What set the run off."""

    type: str
    source: Source
    timestamp: int | None = None


class AgentEvent(Tolerant):
    """What happened."""

    event_id: str
    event_type: str
    """The Host's own stable name: `message.received`."""
    event_time: int | None = None
    source: str
    source_event_type: str | None = None
    """The platform's own name."""
    raw_ref: RawRef | None = None
    data: dict[str, Any] = {}
    """The event's own fields; never a large raw payload."""


class Conversation(Tolerant):
    """Where it happened."""

    conversation_id: str | None = None
    thread_id: str | None = None
    launcher_type: str | None = None
    """The kind of chat: private or group."""
    launcher_id: str | None = None
    sender_id: str | None = None
    bot_id: str | None = None
    workspace_id: str | None = None
    session_id: str | None = None


class Actor(Tolerant):
    """Who did it."""

    actor_type: str
    actor_id: str | None = None
    actor_name: str | None = None
    metadata: dict[str, Any] = {}


class Subject(Tolerant):
    """What it was done to."""

    subject_type: str
    subject_id: str | None = None
    data: dict[str, Any] = {}


class PromptMessage(Tolerant):
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"] = "system"
    content: str
