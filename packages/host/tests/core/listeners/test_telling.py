"""What listeners and webhooks are told of an event is the event that its adapter decoded, whatever its type."""

from typing import Any

import pytest

from parlour.core.model.event import RecordedEvent
from parlour.core.platforms import events
from parlour.core.platforms.port import IncomingEvent
from parlour.core.plugin_hooks import payloads
from parlour.core.store import event_log
from parlour_sdk.protocol.platform_events import EVENTS, HostEvent, PlatformEvent, event_class

from ..support import EPOCH, message, recorded

USER = {"id": "u", "nickname": "Ann"}
GROUP = {"id": "g", "name": "Group"}
CHAT = {"chat_type": "group", "chat_id": "g", "group": GROUP}
CHAIN = [{"type": "Plain", "text": "hello"}, {"type": "At", "target": "bot"}]
MEMBER = {"user": USER, "group_id": "g", "role": "admin"}
OWN: dict[str, dict[str, Any]] = {
    "message.received": {"message_id": "m", "message_chain": CHAIN, "sender": USER, **CHAT},
    "message.edited": {"message_id": "m", "new_content": CHAIN, "editor": USER, **CHAT},
    "message.deleted": {"message_id": "m", "operator": USER, **CHAT},
    "message.reaction": {"message_id": "m", "user": USER, "reaction": "+", "is_add": True, **CHAT},
    "feedback.received": {"feedback_id": "f", "feedback_type": 2, "user_id": "u", "inaccurate_reasons": ["old"]},
    "group.member_joined": {"group": GROUP, "member": MEMBER, "inviter": USER, "join_type": "invite"},
    "group.member_left": {"group": GROUP, "member": MEMBER, "is_kicked": True},
    "group.member_banned": {"group": GROUP, "member": MEMBER, "duration": 60},
    "group.member_unbanned": {"group": GROUP, "member": MEMBER},
    "group.info_updated": {"group": GROUP, "changed_fields": ["name"]},
    "friend.request_received": {"request_id": "r", "user": USER, "message": "hi"},
    "friend.added": {"user": USER},
    "friend.removed": {"user": USER},
    "bot.invited_to_group": {"group": GROUP, "request_id": "r"},
    "bot.removed_from_group": {"group": GROUP},
    "bot.muted": {"group": GROUP, "duration": 60},
    "bot.unmuted": {"group": GROUP},
    "interaction.received": {"interaction_id": "i", "user": USER, "action_id": "a", "value": {"x": 1}, **CHAT},
    "platform.fake.poked": {"action": "poked", "data": {"by": "u", "chat_type": "group", "chat_id": "g"}},
}


def test_the_samples_are_of_every_event_that_a_platform_tells() -> None:
    told = {name for name, entity in EVENTS.items() if not issubclass(entity, HostEvent)}
    assert told == OWN.keys() - {"platform.fake.poked"}


def parsed(told: dict[str, Any]) -> PlatformEvent:
    entity = event_class(told["type"])
    assert entity is not None
    return entity.model_validate(told)


@pytest.mark.parametrize("event_type", OWN)
def test_an_event_is_told_as_it_was_decoded_also_after_it_was_kept(event_type: str) -> None:
    event = parsed({"type": event_type, "event_id": "e", "timestamp": 5, **OWN[event_type]})
    envelope = events.to_envelope(IncomingEvent(event, account="acc", role="admin"), "bot", "fake")
    insert = event_log.append(envelope, "conversation", EPOCH)
    kept = event_log.from_row({**insert.values, "seq": 1})
    told = parsed(payloads.event_payload(kept))
    expected = event.model_copy(update={"bot_id": "bot", "adapter_name": "fake"})
    own = type(event).model_fields
    if event_type.startswith("platform."):
        expected = expected.model_copy(update={"data": {"by": "u"}})
    assert told.model_dump(include=set(own)) == expected.model_dump(include=set(own))


def test_a_message_from_the_web_chat_has_what_messages_have() -> None:
    told = parsed(payloads.event_payload(recorded(text="hi", event_id="e")))
    assert told.model_dump()["message_chain"] == [{"type": "Plain", "text": "hi"}]
    assert told.timestamp == EPOCH


@pytest.mark.parametrize("event_type", ["schedule.triggered", "api.invoked"])
def test_what_the_host_itself_tells_has_its_data(event_type: str) -> None:
    event = message(event_type=event_type, data={"x": 1}, surface="platform")
    subject = type(event.subject)("schedule", "s")
    told = payloads.event_payload(RecordedEvent(1, "c", EPOCH, type(event)(**{**_fields(event), "subject": subject})))
    assert parsed(told).model_dump()["data"] == {"x": 1}


def _fields(event: Any) -> dict[str, Any]:
    return {name: getattr(event, name) for name in event.__slots__}
