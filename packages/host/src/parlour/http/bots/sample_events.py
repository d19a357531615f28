"""Builds the event of a dry run from an example that an operator wrote. Nothing of it is stored.

An example that is complete enough is read as a platform event, so that it takes the same route. For a sketch, the
fields that filters use are derived.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from parlour.core.model.chats import PLATFORM_SURFACE
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.core.model.ids import BotId, EventId
from parlour.core.platforms import events
from parlour.core.platforms.port import IncomingEvent
from parlour_sdk.protocol.events import ALIASES
from parlour_sdk.protocol.platform_events import (
    HostEvent,
    MessageReceived,
    PlatformEvent,
    PlatformSpecific,
    event_class,
)

from .mapping import invalid_fields

MAX_TIMESTAMP_MS = 253_402_000_000_000
"""Latest accepted timestamp in milliseconds, in the year 9999; later dates can't be computed."""
NON_DATA_FIELDS = events.COMMON_FIELDS | {
    "event_type",
    "actor",
    "subject",
    "input",
    "text",
    "data",
    "thread_id",
    "conversation_id",
}
"""Fields of an event that are not part of its data."""
SKETCH_FIELDS = {"actor", "sender", "user", "editor", "inviter", "operator", "member", "input", "data"}
"""Fields that a sketch of any event may have; platform events have them only if their type declares them."""


class _Person(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str = ""
    actor_id: str = ""
    is_bot: bool = False
    role: str = ""
    metadata: dict[str, Any] = {}
    user: "_Person | None" = None
    """Set for a member of a group, whose user data is nested."""

    def to_participant(self) -> Participant:
        person = self.user or self
        flags = {"is_bot": True} if person.is_bot else {}
        role = {"role": self.role} if self.role else {}
        return Participant("user", person.id or person.actor_id, "", {**flags, **role, **self.metadata})


class _Component(BaseModel):
    model_config = ConfigDict(extra="ignore")

    text: str = ""


class _SampleEvent(BaseModel):
    """The fields that filters can use; everything else is the event's data."""

    model_config = ConfigDict(extra="allow")

    type: str = "message.received"
    event_type: str = ""
    event_id: EventId = EventId("example")
    thread_id: str = ""
    timestamp: int = Field(default=0, ge=0, le=MAX_TIMESTAMP_MS)
    text: str | None = None
    input: _Component = _Component()
    message_chain: list[_Component] = []
    actor: _Person | None = None
    sender: _Person | None = None
    user: _Person | None = None
    editor: _Person | None = None
    inviter: _Person | None = None
    operator: _Person | None = None
    member: _Person | None = None
    account: str = ""
    mentions_bot: bool = False
    role: str = ""
    data: dict[str, Any] = {}

    @property
    def name(self) -> str:
        name = self.event_type or self.type
        return ALIASES.get(name, name)

    def message_text(self) -> str:
        """Returns the text of the event; of the platform events only a message has any besides `input`."""
        entity = event_class(self.name)
        if entity is not None and not issubclass(entity, MessageReceived | HostEvent):
            return self.input.text
        return self.text or self.input.text or "".join(each.text for each in self.message_chain)

    def first_participant(self) -> Participant:
        """Returns the event's actor: the first that is set, fields of who acted before fields of who was affected."""
        candidates = (self.actor, self.sender, self.user, self.editor, self.inviter, self.operator, self.member)
        person = next((each for each in candidates if each is not None), _Person())
        return person.model_copy(update={"role": self.role or person.role}).to_participant()


def parse_sample(bot_id: BotId, adapter: str, event: dict[str, Any]) -> EventEnvelope:
    try:
        sample = _SampleEvent.model_validate(event)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        fields = [(".".join(["event", *map(str, each["loc"])]), each["msg"]) for each in problems]
        raise invalid_fields(fields) from error
    platform_event = _as_platform_event(sample, event)
    if platform_event is None:
        return _from_sketch(sample, event, bot_id, adapter)
    role = sample.role or (sample.sender.role if sample.sender is not None else "")
    as_received = IncomingEvent(
        platform_event, sample.account, sample.thread_id, sample.account, sample.mentions_bot, role
    )
    return events.to_envelope(as_received, bot_id, adapter)


def _as_platform_event(sample: _SampleEvent, event: dict[str, Any]) -> PlatformEvent | None:
    """Returns the example as a platform event, or None for a sketch. A message needs only its sender, its chat and a
    text."""
    entity = event_class(sample.name)
    if (
        entity is None
        or issubclass(entity, HostEvent)
        or not event.keys() & SKETCH_FIELDS <= entity.model_fields.keys()
    ):
        return None
    common = {"type": sample.name, "event_id": sample.event_id, "timestamp": sample.timestamp}
    try:
        return entity.model_validate({**_with_defaults(entity, sample, event), **common})
    except ValidationError:
        return None


def _with_defaults(entity: type[PlatformEvent], sample: _SampleEvent, event: dict[str, Any]) -> dict[str, Any]:
    if issubclass(entity, MessageReceived):
        chain = {} if sample.text is None else {"message_chain": [{"type": "Plain", "text": sample.text}]}
        return {"message_id": sample.event_id, "message_chain": [], **event, **chain}
    if issubclass(entity, PlatformSpecific):
        chat = {name: event[name] for name in ("chat_type", "chat_id") if name in event}
        return {**event, "data": {**chat, **sample.data}}
    return event


def _from_sketch(sample: _SampleEvent, event: dict[str, Any], bot_id: BotId, adapter: str) -> EventEnvelope:
    data = {name: value for name, value in event.items() if name not in NON_DATA_FIELDS}
    return EventEnvelope(
        event_id=sample.event_id,
        event_type=sample.name,
        source=adapter,
        chat="example",
        context=EventContext(sample.event_id),
        surface=PLATFORM_SURFACE,
        bot_id=bot_id,
        thread_id=sample.thread_id,
        event_time=sample.timestamp,
        actor=sample.first_participant(),
        input={"text": sample.message_text()},
        data={**_chat_fields(event), **data, **sample.data},
    )


def _chat_fields(event: dict[str, Any]) -> dict[str, str]:
    """Returns the chat fields of an event that names a group: it happens in that group's chat."""
    group = event.get("group")
    return {"chat_type": "group", "chat_id": str(group["id"])} if isinstance(group, dict) and group.get("id") else {}
