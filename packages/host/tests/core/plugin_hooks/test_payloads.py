"""The payload of an event for listeners and webhooks equals the event that its adapter decoded."""

from typing import Any

import pytest

from parlour.core.model.event import RecordedEvent
from parlour.core.platforms import events
from parlour.core.platforms.port import IncomingEvent
from parlour.core.plugin_hooks import payloads
from parlour.core.store import event_log
from parlour_sdk.protocol.platform_events import EVENTS, HostEvent, PlatformEvent, event_class

from ..support import EPOCH, make_recorded_event, message

USER = {"id": "u", "nickname": "Ann"}
GROUP = {"id": "g", "name": "Group"}
CHAT = {"chat_type": "group", "chat_id": "g", "group": GROUP}
CHAIN = [{"type": "Plain", "text": "hello"}, {"type": "At", "target": "bot"}]
MEMBER = {"user": USER, "group_id": "g", "role": "admin"}
FIELDS_BY_TYPE: dict[str, dict[str, Any]] = {
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


def test_samples_cover_every_platform_event() -> None:
    payload = {name for name, entity in EVENTS.items() if not issubclass(entity, HostEvent)}
    assert payload == FIELDS_BY_TYPE.keys() - {"platform.fake.poked"}


def parse_event(payload: dict[str, Any]) -> PlatformEvent:
    entity = event_class(payload["type"])
    assert entity is not None
    return entity.model_validate(payload)


@pytest.mark.parametrize("event_type", FIELDS_BY_TYPE)
def test_payload_equals_the_decoded_event_after_storage(event_type: str) -> None:
    event = parse_event({"type": event_type, "event_id": "e", "timestamp": 5, **FIELDS_BY_TYPE[event_type]})
    envelope = events.to_envelope(IncomingEvent(event, account="acc", role="admin"), "bot", "fake")
    insert = event_log.append(envelope, "conversation", EPOCH)
    stored = event_log.from_row({**insert.values, "seq": 1})
    payload = parse_event(payloads.event_payload(stored))
    expected = event.model_copy(update={"bot_id": "bot", "adapter_name": "fake"})
    field_names = type(event).model_fields
    if event_type.startswith("platform."):
        expected = expected.model_copy(update={"data": {"by": "u"}})
    assert payload.model_dump(include=set(field_names)) == expected.model_dump(include=set(field_names))


def test_message_from_the_web_chat_has_message_fields() -> None:
    payload = parse_event(payloads.event_payload(make_recorded_event(text="hi", event_id="e")))
    assert payload.model_dump()["message_chain"] == [{"type": "Plain", "text": "hi"}]
    assert payload.timestamp == EPOCH


@pytest.mark.parametrize("event_type", ["schedule.triggered", "api.invoked"])
def test_event_of_the_host_has_its_data(event_type: str) -> None:
    event = message(event_type=event_type, data={"x": 1}, surface="platform")
    subject = type(event.subject)("schedule", "s")
    payload = payloads.event_payload(
        RecordedEvent(1, "c", EPOCH, type(event)(**{**_fields(event), "subject": subject}))
    )
    assert parse_event(payload).model_dump()["data"] == {"x": 1}


def _fields(event: Any) -> dict[str, Any]:
    return {name: getattr(event, name) for name in event.__slots__}
