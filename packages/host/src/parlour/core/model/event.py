"""Events in Parlour's own form: normalized, with their cause, and independent of the platform they came from."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, NamedTuple

from parlour_sdk.values import dataclass

from .ids import NO_AGENT, NO_BOT, AgentId, BotId, ConversationId, EventId
from .run_request import RunRequest

JsonObject = Mapping[str, Any]


LOCALE = "locale"
"""Key in an actor's data: the language of the user, if the platform or the client provides it."""
TEXT_REF = "text_ref"
"""Key in an event's metadata: the artifact with the whole of a text that is too long for the transcript."""
PREVIEW_WORKSPACE = "preview"
"""Workspace of previews, so that they have state, storage and files of their own."""
HAPPENED_AT = "happened_at"
"""Key in an event's metadata: the time of the event by the Host's clock, if the source's clock was compared with it."""


@dataclass(frozen=True, slots=True)
class EventContext:
    """Causality of an event: its own step, the step that caused it, and the origin of the chain."""

    id: str
    parent_id: str = ""
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Participant:
    """A user, bot or group that an event names as its actor or subject."""

    type: str = ""
    id: str = ""
    name: str = ""
    data: JsonObject = field(default_factory=dict)


class ConversationKey(NamedTuple):
    """Identifies a conversation. An absent part is an empty string."""

    workspace_id: str
    source: str
    bot_id: BotId
    chat: str
    thread_id: str
    agent_id: AgentId
    principal: str


@dataclass(frozen=True, slots=True)
class EventEnvelope:
    """An event before it is stored."""

    event_id: EventId
    event_type: str
    source: str
    chat: str
    context: EventContext
    surface: str
    workspace_id: str = "default"
    bot_id: BotId = NO_BOT
    thread_id: str = ""
    agent_id: AgentId = NO_AGENT
    """The agent that the caller named; otherwise the bot's routes decide."""
    principal: str = ""
    """Owner of the event id and chat name: the API key or user of an API call, empty for platforms."""
    event_time: int = 0
    source_event_type: str = ""
    actor: Participant = Participant()
    subject: Participant = Participant()
    input: JsonObject = field(default_factory=dict)
    data: JsonObject = field(default_factory=dict)
    metadata: JsonObject = field(default_factory=dict)
    run_request: RunRequest | None = None
    """The plugin's request that created a run; None for an event from outside."""

    @property
    def conversation_key(self) -> ConversationKey:
        return ConversationKey(
            self.workspace_id, self.source, self.bot_id, self.chat, self.thread_id, self.agent_id, self.principal
        )

    @property
    def is_preview(self) -> bool:
        """True if the event, or the run that caused it, is a preview: nothing may leave the Host for it."""
        return self.workspace_id == PREVIEW_WORKSPACE

    @property
    def locale(self) -> str:
        """The actor's locale; empty if it is not known."""
        locale = self.actor.data.get(LOCALE)
        return locale if isinstance(locale, str) else ""

    @property
    def text(self) -> str:
        """The readable part of the input."""
        text = self.input.get("text")
        if text is not None:
            return str(text)
        contents = self.input.get("contents", ())
        return "".join(element["text"] for element in contents if element.get("type") == "text")


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event that is stored in the event log."""

    seq: int
    conversation_id: ConversationId
    created_at: int
    envelope: EventEnvelope

    @property
    def is_erased(self) -> bool:
        """True if its conversation was deleted; only the fact that the event happened remains."""
        return not self.envelope.surface

    def is_older_than(self, seconds: float, now: int) -> bool:
        """Returns whether the event is older than this, by the time it happened if known; 0 seconds means never."""
        since = min(self.created_at, self.envelope.metadata.get(HAPPENED_AT, self.created_at))
        return seconds > 0 and now - since > seconds * 1000
