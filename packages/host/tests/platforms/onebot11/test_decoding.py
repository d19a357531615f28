"""No payload makes decoding fail; an unreadable one becomes an event that says so."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.core.platforms.events import to_envelope
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.onebot11.actions import ACTIONS
from parlour.platforms.onebot11.decode import chat_key, decode, is_own
from parlour.platforms.onebot11.enrich import needs_lookup
from parlour.platforms.onebot11.segments import MAX_SEGMENTS, TOO_MANY, component_of, segments_of
from parlour.testing.onebot_simulator import native
from parlour_sdk.protocol.chain import File, Forward, ForwardNode, Plain

NAMES = ("time", "self_id", "user_id", "group_id", "message_id", "sender", "anonymous", "sub_type", "flag", "duration")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KINDS = st.sampled_from(["text", "at", "face", "image", "record", "file", "reply", "forward", "node", "json", "x"])
DATA_NAMES = st.sampled_from(["text", "qq", "id", "file", "url", "content", "quoted", "base64", "name", "message"])
SEGMENTS = st.fixed_dictionaries({"type": KINDS, "data": st.dictionaries(DATA_NAMES, VALUES, max_size=4)})
PAYLOADS = st.fixed_dictionaries(
    {"post_type": st.sampled_from(["message", "notice", "request", "other"]) | VALUES},
    optional={
        **dict.fromkeys(NAMES, VALUES),
        "message": st.lists(SEGMENTS | VALUES, max_size=4) | VALUES,
        "message_type": st.sampled_from(["private", "group"]) | VALUES,
        "notice_type": st.sampled_from(["group_ban", "group_recall", "group_increase", "notify", "friend_add"])
        | VALUES,
        "request_type": st.sampled_from(["friend", "group"]) | VALUES,
    },
)


@given(PAYLOADS)
def test_every_payload_becomes_an_event_that_the_host_can_store(payload: dict[str, object]) -> None:
    chat_key(payload)
    is_own(payload)
    incoming = decode(payload, "bot")
    envelope = to_envelope(incoming, "bot", "onebot11")
    assert decode(payload, "bot").event.event_id == envelope.event_id
    json.dumps([dict(envelope.data), dict(envelope.input)])


def test_a_null_text_becomes_an_empty_text() -> None:
    assert component_of({"type": "text", "data": {"text": None}}) == Plain(text="")


@given(SEGMENTS | VALUES)
def test_every_segment_becomes_a_component(segment: object) -> None:
    assert component_of(segment).type
    needs_lookup(segments_of([segment]))


MESSAGE = native.message(10001, 5, 7, [native.text("hello")], 30003)
RECALL = native.notice(10001, "group_recall", group_id=30003, user_id=7, operator_id=7, message_id=5)


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        ({**MESSAGE, "message_id": [5]}, "message_id: a whole number or a text is expected, not a list"),
        ({**MESSAGE, "user_id": None}, "user_id: a whole number or a text is expected, not null"),
        ({**MESSAGE, "group_id": ""}, "group_id: an id of 1 to 512 characters is expected, not of 0"),
        ({**MESSAGE, "anonymous": {}}, "anonymous.id: a whole number or a text is expected, not null"),
        ({**MESSAGE, "time": "noon"}, "time: seconds since 1970 are expected, not a text"),
        ({**MESSAGE, "message": 5}, "message: a list of segments or a text is expected"),
        ({**MESSAGE, "message": [1] * (MAX_SEGMENTS + 1)}, TOO_MANY),
        ({**MESSAGE, "message": "[CQ:face,id=1]" * (MAX_SEGMENTS + 1)}, TOO_MANY),
        ({**MESSAGE, "message": [{"type": "forward", "data": {"content": [{}] * MAX_SEGMENTS}}]}, TOO_MANY),
        ({**MESSAGE, "message": [{"type": "node", "data": {"content": "[CQ:x]" * MAX_SEGMENTS}}]}, TOO_MANY),
        ({**MESSAGE, "message_type": "channel"}, "message_type: private or group is expected"),
        ({**MESSAGE, "post_type": {}}, "post_type: message, notice or request is expected"),
        ({name: value for name, value in MESSAGE.items() if name != "message"}, "message: it is missing"),
        ({**RECALL, "operator_id": {"id": 7}}, "operator_id: a whole number or a text is expected, not an object"),
        ({name: value for name, value in RECALL.items() if name != "group_id"}, "group_id: it is missing"),
        ({**RECALL, "notice_type": 5}, "notice_type or request_type: the event's kind is expected, as a text"),
    ],
)
def test_a_malformed_payload_names_the_field_and_what_was_expected(payload: dict[str, object], problem: str) -> None:
    event = decode(payload, "bot").event
    assert event.type == "platform.onebot11.malformed"
    assert event.data["problem"] == problem  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("data", "node"),
    [
        (
            {"user_id": "5", "nickname": "nn", "content": [native.text("said")]},
            ForwardNode(sender="5", name="nn", chain=[Plain(text="said")]),
        ),
        ({"uin": 5, "name": "nn", "content": "said"}, ForwardNode(sender="5", name="nn", chain=[Plain(text="said")])),
        ({"id": 733}, ForwardNode(message_id="733")),
    ],
)
def test_a_node_by_itself_is_a_forward_of_one(data: dict[str, object], node: ForwardNode) -> None:
    assert component_of({"type": "node", "data": data}) == Forward(nodes=[node])


@pytest.mark.parametrize(
    "data",
    [
        {"file": "a.pdf"},
        {"file": "C:\\files\\a.pdf"},
        {"file": "u-1", "name": "a.pdf"},
        {"file_name": "a.pdf", "file_hash": "0", "file_id": "u-1"},
        {"file": "https://example.com/1", "filename": "a.pdf"},
    ],
)
def test_a_file_name_is_found_in_every_known_field(data: dict[str, object]) -> None:
    segment = {"type": "file", "data": {"url": "https://example.com/1", **data}}
    assert component_of(segment) == File(url="https://example.com/1", name="a.pdf")


def test_exactly_the_declared_actions_are_implemented() -> None:
    assert set(ACTIONS) == set(BuiltinAdapterCatalogue().manifests()["onebot11"].actions)
