"""The envelope of a decoded event: chat, actor, subject, input and data."""

import json
from typing import Any

import pytest

from parlour.core.platforms.events import to_envelope
from parlour.core.platforms.port import IncomingEvent
from parlour.testing.platform_surface import EVENTS as NAMES
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Face,
    File,
    Forward,
    ForwardNode,
    Image,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Source,
    Unknown,
)
from parlour_sdk.protocol.content import AgentInput
from parlour_sdk.protocol.people import Group, GroupMember, User
from parlour_sdk.protocol.platform_events import EVENTS, MessageReceived, PlatformSpecific

ANN = User(id="ann", nickname="Ann")
BO = User(id="bo", nickname="Bo")
GROUP = Group(id="g1", name="the group")
FIELDS: dict[str, Any] = {
    "event_id": "e1",
    "timestamp": 5,
    "bot_id": "bot",
    "message_id": "m1",
    "message_chain": [Plain(text="hello")],
    "new_content": [Plain(text="changed")],
    "sender": ANN,
    "editor": ANN,
    "user": ANN,
    "operator": BO,
    "inviter": BO,
    "member": GroupMember(user=ANN, group_id="g1"),
    "chat_type": "group",
    "chat_id": "g1",
    "group": GROUP,
    "reaction": "👍",
    "is_add": True,
    "feedback_id": "f1",
    "feedback_type": 1,
    "user_id": "ann",
    "request_id": "r1",
    "interaction_id": "i1",
    "action_id": "button",
}
EXPECTED = {
    "message.received": ("group:g1", "ann", "message", "m1"),
    "message.edited": ("group:g1", "ann", "message", "m1"),
    "message.deleted": ("group:g1", "bo", "message", "m1"),
    "message.reaction": ("group:g1", "ann", "message", "m1"),
    "feedback.received": ("private:ann", "ann", "message", "m1"),
    "group.member_joined": ("group:g1", "bo", "membership", "ann"),
    "group.member_left": ("group:g1", "bo", "membership", "ann"),
    "group.member_banned": ("group:g1", "bo", "membership", "ann"),
    "group.member_unbanned": ("group:g1", "bo", "membership", "ann"),
    "group.info_updated": ("group:g1", "bo", "group", "g1"),
    "friend.request_received": ("private:ann", "ann", "friend_request", "r1"),
    "friend.added": ("private:ann", "ann", "friendship", "ann"),
    "friend.removed": ("private:ann", "ann", "friendship", "ann"),
    "bot.invited_to_group": ("group:g1", "bo", "membership", "bot"),
    "bot.removed_from_group": ("group:g1", "bo", "membership", "bot"),
    "bot.muted": ("group:g1", "bo", "membership", "bot"),
    "bot.unmuted": ("group:g1", "bo", "membership", "bot"),
    "interaction.received": ("group:g1", "ann", "control", "button"),
}


def example(name: str) -> IncomingEvent:
    entity = EVENTS[name]
    return IncomingEvent(entity(**{field: FIELDS[field] for field in entity.model_fields if field in FIELDS}))


def test_every_common_event_has_an_expectation() -> None:
    assert set(EXPECTED) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_chat_actor_and_subject_follow_the_event(name: str) -> None:
    envelope = to_envelope(example(name), "bot", "fake")
    assert (envelope.chat, envelope.actor.id, envelope.subject.type, envelope.subject.id) == EXPECTED[name]
    assert (envelope.event_type, envelope.event_id, envelope.event_time, envelope.surface) == (
        name,
        "e1",
        5,
        "platform",
    )
    assert (envelope.source, envelope.bot_id) == ("fake", "bot")


@pytest.mark.parametrize("name", NAMES)
def test_only_messages_have_input_and_all_data_is_json(name: str) -> None:
    envelope = to_envelope(example(name), "bot", "fake")
    assert bool(envelope.input) == (name == "message.received")
    assert json.loads(json.dumps(envelope.data)) == envelope.data
    assert envelope.data["chat_id"] in ("g1", "ann")


def message(chain: MessageChain, **options: Any) -> Any:
    event = MessageReceived(
        event_id="e1", timestamp=5, message_id="m1", message_chain=chain, sender=ANN, chat_type="private", chat_id="ann"
    )
    envelope = to_envelope(IncomingEvent(event, **options), "bot", "fake")
    AgentInput.model_validate(envelope.input)
    return envelope


def test_plain_text_has_no_content_elements() -> None:
    assert message([Source(id="m1"), Plain(text="a"), Plain(text="b")]).input == {"text": "ab"}


def test_account_is_part_of_the_chat_key() -> None:
    envelope = message([Plain(text="x")], account="10001", thread_id="t")
    assert (envelope.chat, envelope.thread_id, envelope.data["account"]) == ("10001/private:ann", "t", "10001")


def test_mention_of_the_bot_is_not_text_and_others_are_named() -> None:
    chain: MessageChain = [At(target="me"), Plain(text=" ask "), At(target="bo", display="Bo"), AtAll()]
    envelope = message(chain, self_id="me")
    assert envelope.input["text"] == "ask @Bo@all"
    assert envelope.data["mentions_bot"]
    assert envelope.input["contents"][0] == {"type": "mention", "user_id": "me"}
    assert not message(chain[1:], self_id="me").data["mentions_bot"]
    assert message(chain[1:], self_id="me", addresses_bot=True).data["mentions_bot"]


def test_role_is_stored_in_the_actor_and_data() -> None:
    envelope = message([Plain(text="x")], role="admin")
    assert (envelope.actor.data["role"], envelope.data["role"]) == ("admin", "admin")


def test_sender_that_is_a_bot_is_marked() -> None:
    event = MessageReceived(
        event_id="e", timestamp=1, message_id="m", message_chain=[Plain(text="x")], sender=User(id="r2", is_bot=True),
        chat_type="private", chat_id="r2",
    )  # fmt: skip
    assert to_envelope(IncomingEvent(event), "bot", "fake").actor.data == {"is_bot": True}


def test_media_are_content_elements_in_order() -> None:
    envelope = message(
        [Plain(text="see "), Image(url="https://e/a.png", name="a.png", size=3), Face(id="1", name="smile")]
    )
    assert envelope.input == {
        "text": "see [smile]",
        "contents": [
            {"type": "text", "text": "see "},
            {"type": "image", "url": "https://e/a.png", "name": "a.png", "size_bytes": 3},
            {"type": "text", "text": "[smile]"},
        ],
    }


def test_quotes_and_forwards_keep_their_content() -> None:
    quote = Quote(id="m0", sender="bo", origin=[Plain(text="before"), Image(base64="aGk=", name="b.png")])
    forward = Forward(nodes=[ForwardNode(name="Bo", chain=[Plain(text="one")]), ForwardNode(chain=[Plain(text="two")])])
    envelope = message(
        [quote, forward, Platform(platform="fake", component_type="card", data={"a": 1}), Unknown(text="?")]
    )
    quoted, forwarded, card, unknown = envelope.input["contents"]
    assert quoted["contents"] == [{"type": "text", "text": "before"}, {"type": "text", "text": "[image: b.png]"}]
    assert forwarded == {"type": "text", "text": "Bo: one\n?: two"}
    assert card == {"type": "text", "text": "[card]"}
    assert unknown == {"type": "text", "text": "?"}
    assert "base64" not in json.dumps(envelope.data["message_chain"][0])


def test_path_of_the_adapters_machine_is_not_stored() -> None:
    envelope = message([File(path="/home/qq/secret.pdf", name="secret.pdf")])
    assert "/home/qq" not in json.dumps([envelope.data, envelope.input])
    assert envelope.data["message_chain"] == [{"type": "Unknown", "text": "[file: secret.pdf]"}]


def specific(**data: Any) -> PlatformSpecific:
    return PlatformSpecific(type="platform.fake.poke", event_id="e", timestamp=1, action="poke", data=data)


def test_platform_specific_event_keeps_its_fields_and_may_name_a_chat() -> None:
    envelope = to_envelope(IncomingEvent(specific(chat_type="group", chat_id="g1", who="ann")), "bot", "fake")
    assert (envelope.chat, envelope.data["who"], envelope.data["action"]) == ("group:g1", "ann", "poke")
    assert to_envelope(IncomingEvent(specific(chat_type="moon", chat_id=7)), "bot", "fake").chat == ""


@pytest.mark.parametrize(
    ("data", "actor", "subject"),
    [
        ({"user_id": 7, "target_id": "8"}, ("user", "7"), ("user", "8")),
        ({"user_id": 0, "operator_id": 9}, ("user", "9"), ("platform", "poke")),
        ({"user_id": 7, "sender_id": 9, "target_id": 7}, ("user", "9"), ("user", "7")),
        ({"user_id": "7", "operator_id": None, "target_id": 0}, ("user", "7"), ("platform", "poke")),
        ({"user_id": ["7"], "target_id": True}, ("", ""), ("platform", "poke")),
        ({"user_id": "7" * 600}, ("", ""), ("platform", "poke")),
    ],
)
def test_platform_specific_event_may_name_actor_and_subject(
    data: dict[str, Any], actor: tuple[str, str], subject: tuple[str, str]
) -> None:
    envelope = to_envelope(IncomingEvent(specific(**data)), "bot", "fake")
    assert (envelope.actor.type, envelope.actor.id) == actor
    assert (envelope.subject.type, envelope.subject.id) == subject
