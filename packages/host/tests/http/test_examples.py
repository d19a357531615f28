"""Tests sample events of a dry run: a complete or partial sample is parsed as the platform's event would be."""

from typing import Any

import pytest

from parlour.core.model.event import EventEnvelope, Participant, RecordedEvent
from parlour.core.platforms import events
from parlour.core.platforms.port import IncomingEvent
from parlour.core.plugin_hooks import payloads
from parlour.http.bots.sample_events import MAX_TIMESTAMP_MS, parse_sample
from parlour.http.errors import Problem
from parlour_sdk.protocol.platform_events import event_class

ANN, EVE = {"id": "ann", "nickname": "Ann"}, {"id": "eve", "nickname": "Eve"}
GROUP = {"id": "5", "name": "Group"}
CHAT = {"chat_type": "group", "chat_id": "5", "group": GROUP}
MEMBER = {"user": ANN, "group_id": "5", "role": "admin"}
CHAIN = [{"type": "At", "target": "me"}, {"type": "At", "target": "eve", "display": "Eve"}]
COMPLETE: dict[str, dict[str, Any]] = {
    "message.received": {"message_id": "m", "message_chain": [*CHAIN, {"type": "Plain", "text": " hi"}], "sender": ANN}
    | CHAT,
    "message.edited": {"message_id": "m", "new_content": [{"type": "Plain", "text": "hi"}], "editor": ANN, **CHAT},
    "message.deleted": {"message_id": "m", "operator": ANN, **CHAT},
    "message.reaction": {"message_id": "m", "user": ANN, "reaction": "+", "is_add": True, **CHAT},
    "feedback.received": {"feedback_id": "f", "feedback_type": 2, "user_id": "ann"},
    "group.member_joined": {"group": GROUP, "member": MEMBER, "inviter": EVE},
    "group.member_left": {"group": GROUP, "member": MEMBER, "is_kicked": True, "operator": EVE},
    "group.info_updated": {"group": GROUP, "operator": EVE, "changed_fields": ["name"]},
    "friend.request_received": {"request_id": "r", "user": ANN, "message": "hi"},
    "friend.added": {"user": ANN},
    "bot.invited_to_group": {"group": GROUP, "inviter": ANN},
    "bot.muted": {"group": GROUP, "operator": EVE, "duration": 60},
    "interaction.received": {"interaction_id": "i", "user": ANN, "action_id": "a", **CHAT},
    "platform.fake.poked": {
        "action": "poked",
        "data": {"user_id": 7, "target_id": 8, "chat_type": "group", "chat_id": "5"},
    },
}


def matched_fields(event: EventEnvelope) -> dict[str, Any]:
    """All that a filter looks at."""
    names = ("event_type", "event_id", "event_time", "bot_id", "chat", "thread_id", "actor", "text", "data", "surface")
    return {name: getattr(event, name) for name in names}


@pytest.mark.parametrize("event_type", COMPLETE)
def test_a_complete_sample_equals_the_received_event(event_type: str) -> None:
    entity = event_class(event_type)
    assert entity is not None
    event = entity.model_validate({"type": event_type, "event_id": "e", "timestamp": 5, **COMPLETE[event_type]})
    role = "admin" if event_type == "message.received" else ""
    received = events.to_envelope(IncomingEvent(event, "me", self_id="me", role=role), "bot", "fake")
    payload = payloads.event_payload(RecordedEvent(1, "c", 5, received))
    assert matched_fields(parse_sample("bot", "fake", payload)) == matched_fields(received)


def test_a_partial_message_sample_has_sender_chat_and_text() -> None:
    sample = {"text": "hi", "sender": {"id": "ann", "role": "owner"}, "chat_type": "group", "chat_id": "5"}
    parsed = parse_sample("bot", "fake", sample)
    assert (parsed.event_type, parsed.text, parsed.chat) == ("message.received", "hi", "group:5")
    assert (parsed.actor.id, parsed.actor.data) == ("ann", {"role": "owner"})


@pytest.mark.parametrize(
    ("sample", "actor"),
    [
        ({"type": "message.deleted", "sender": {"id": "ann"}, "chat_type": "group", "chat_id": "5"}, "ann"),
        ({"type": "group.member_joined", "member": {"id": "ann"}, "inviter": {"id": "eve"}}, "eve"),
        ({"type": "message.edited", "editor": {"id": "ann"}}, "ann"),
        ({"event_type": "api.invoked", "actor": {"actor_id": "key"}}, "key"),
    ],
)
def test_a_sample_may_omit_fields_that_no_filter_uses(sample: dict[str, Any], actor: str) -> None:
    assert parse_sample("bot", "fake", sample).actor == Participant("user", actor)


def test_data_has_only_the_fields_that_the_event_would_have() -> None:
    sample = {"type": "message.received", "text": "hi", "sender": {"id": "ann"}, "data": {"x": 1}, "timestamp": 5}
    assert parse_sample("bot", "fake", sample).data == {"sender": {"id": "ann"}, "x": 1}


def test_only_a_message_sample_has_a_text() -> None:
    assert parse_sample("bot", "fake", {"type": "message.deleted", "text": "hi"}).text == ""
    assert parse_sample("bot", "fake", {"type": "message.received", "text": "hi"}).text == "hi"
    assert parse_sample("bot", "fake", {"event_type": "api.invoked", "input": {"text": "hi"}}).text == "hi"


@pytest.mark.parametrize("timestamp", [-1, MAX_TIMESTAMP_MS + 1, 10**30])
def test_an_impossible_timestamp_is_refused(timestamp: int) -> None:
    with pytest.raises(Problem, match=r"event\.timestamp"):
        parse_sample("bot", "fake", {"timestamp": timestamp})
