"""An event as the Host keeps it: normalized, with its cause, blind to where it came from."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, NamedTuple

from parlour_sdk.values import dataclass

from .run_request import Commission

JsonObject = Mapping[str, Any]


LOCALE = "locale"
"""In an actor's data: the language that the person uses, where the platform or the client tells it."""
HAPPENED_AT = "happened_at"
"""In an event's metadata: when it happened by the Host's clock, where its source and the Host were compared."""


@dataclass(frozen=True, slots=True)
class EventContext:
    """Causality: which step this is, and what caused it."""

    id: str
    parent_id: str = ""
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Party:
    """Who or what an event is about."""

    type: str = ""
    id: str = ""
    name: str = ""
    data: JsonObject = field(default_factory=dict)


class ConversationKey(NamedTuple):
    """What makes a conversation the same one. An absent part is an empty string."""

    workspace_id: str
    source: str
    bot_id: str
    chat: str
    thread_id: str
    agent_id: str
    principal: str


@dataclass(frozen=True, slots=True)
class EventEnvelope:
    event_id: str
    event_type: str
    source: str
    chat: str
    context: EventContext
    surface: str
    workspace_id: str = "default"
    bot_id: str = ""
    thread_id: str = ""
    agent_id: str = ""
    """The agent that the caller named; otherwise the bot's routes decide."""
    principal: str = ""
    """Whose event id and chat names these are: the key or user behind an API call, empty for platforms."""
    event_time: int = 0
    source_event_type: str = ""
    actor: Party = Party()
    subject: Party = Party()
    input: JsonObject = field(default_factory=dict)
    data: JsonObject = field(default_factory=dict)
    metadata: JsonObject = field(default_factory=dict)
    commission: Commission | None = None
    """What a plugin asked for that created a run; None for what came from outside."""

    @property
    def conversation(self) -> ConversationKey:
        return ConversationKey(
            self.workspace_id, self.source, self.bot_id, self.chat, self.thread_id, self.agent_id, self.principal
        )

    @property
    def locale(self) -> str:
        """The actor's locale; empty where it is not known."""
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
    """An event that the log holds."""

    seq: int
    conversation_id: str
    created_at: int
    envelope: EventEnvelope

    @property
    def erased(self) -> bool:
        """Its conversation was deleted: that it happened is all that is left of it."""
        return not self.envelope.surface

    def stale(self, seconds: float, now: int) -> bool:
        """Whether it is too old to be answered out of the blue: since it happened, where that is known."""
        since = min(self.created_at, self.envelope.metadata.get(HAPPENED_AT, self.created_at))
        return seconds > 0 and now - since > seconds * 1000
