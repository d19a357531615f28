"""Builds the sample message of a pipeline's dry run: as POST /events takes one, with a sample person and chat."""

from typing import Any

from pydantic import ValidationError

from parlour.core.model.chats import PLATFORM_SURFACE
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.core.model.ids import BotId, EventId

from ..bots.sample_events import parse_sample
from ..errors import invalid_field
from ..events.schemas import EventBody
from ..validation_errors import field_errors

SAMPLE_BOT = BotId("sample")


def sample_event(event: dict[str, Any]) -> EventEnvelope:
    """Returns the message. An event in the form of a platform or of a routes' dry run is accepted too."""
    if event.keys() & {"type", "sender", "message_chain", "text", "chat_type", "mentions_bot"}:
        return parse_sample(SAMPLE_BOT, "sample", {"sender": {"id": "sample"}, "chat_type": "private", **event})
    try:
        body = EventBody.model_validate(event)
    except ValidationError as error:
        first = field_errors(error.errors(include_url=False), event)[0]
        raise invalid_field(f"event.{first['field']}", first["message"]) from None
    event_id = body.event_id or EventId("sample")
    actor = body.actor
    person = (
        Participant(actor.actor_type, actor.actor_id, actor.actor_name, actor.metadata)
        if actor is not None
        else Participant("user", "sample", "Sample")
    )
    return EventEnvelope(
        event_id=event_id,
        event_type=body.event_type,
        source="api",
        chat=body.conversation_id or "sample",
        context=EventContext(event_id),
        surface=PLATFORM_SURFACE,
        bot_id=body.bot_id or SAMPLE_BOT,
        actor=person,
        input=body.input.model_dump(mode="json", exclude_none=True),
        data={"chat_type": "private", "chat_id": "sample", **body.data},
    )
