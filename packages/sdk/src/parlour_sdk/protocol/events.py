"""The event that a run answers, and who and what it is about."""

from typing import Any, Literal

from .base import Tolerant

Source = Literal["platform", "webui", "api", "scheduler", "system", "host_adapter"]


class RawRef(Tolerant):
    ref_id: str
    size_bytes: int | None = None
    mime_type: str | None = None


class AgentTrigger(Tolerant):
    type: str
    source: Source
    timestamp: int | None = None


class AgentEvent(Tolerant):
    event_id: str
    event_type: str
    event_time: int | None = None
    source: str
    source_event_type: str | None = None
    raw_ref: RawRef | None = None
    data: dict[str, Any] = {}


class Conversation(Tolerant):
    conversation_id: str | None = None
    thread_id: str | None = None
    launcher_type: str | None = None
    launcher_id: str | None = None
    sender_id: str | None = None
    bot_id: str | None = None
    workspace_id: str | None = None
    session_id: str | None = None


class Actor(Tolerant):
    actor_type: str
    actor_id: str | None = None
    actor_name: str | None = None
    metadata: dict[str, Any] = {}


class Subject(Tolerant):
    subject_type: str
    subject_id: str | None = None
    data: dict[str, Any] = {}
