"""Tests that valid data is unchanged after a round trip, and that invalid data is refused with a validation error."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.content import AgentInput, ContentElement
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.messages import Message
from parlour_sdk.wire.frames import WireRequest, decode, encode_request
from parlour_sdk.wire.limits import DEFAULT_LIMITS

from .contract import UNIONS
from .entities import ENTITIES, golden
from .strategies import components, contexts, elements, json_objects, json_values, spoiled

CHAIN: TypeAdapter[Any] = TypeAdapter(MessageChain)
ELEMENTS = UNIONS["ContentElement"]
MANY = settings(deadline=None)  # a busy machine is no failure
FEW = settings(deadline=None, max_examples=40)
CONTENTS: TypeAdapter[Any] = TypeAdapter(list[ContentElement])


def _framed(data: Any) -> Any:
    """Returns the data as the other side decodes it."""
    frame = decode(encode_request(1, "action", data, DEFAULT_LIMITS), DEFAULT_LIMITS)
    assert isinstance(frame, WireRequest)
    return frame.data


@MANY
@given(st.lists(components(), max_size=4))
def test_a_chain_is_unchanged_after_a_round_trip(chain: list[dict[str, Any]]) -> None:
    read = CHAIN.validate_python(chain)
    dumped = CHAIN.dump_python(read, mode="json")
    assert [each["type"] for each in dumped] == [each["type"] for each in chain]
    assert CHAIN.validate_python(_framed(read)) == read
    assert CHAIN.validate_json(CHAIN.dump_json(read)) == read


@MANY
@given(st.lists(elements(), max_size=4))
def test_content_is_unchanged_after_a_round_trip(contents: list[dict[str, Any]]) -> None:
    read = CONTENTS.validate_python(contents)
    assert CONTENTS.validate_python(_framed(read)) == read
    assert CONTENTS.validate_json(CONTENTS.dump_json(read)) == read
    assert AgentInput(contents=read).model_dump(mode="json")["contents"] == CONTENTS.dump_python(read, mode="json")


@MANY
@given(st.text() | st.lists(elements(2), max_size=3))
def test_a_message_contains_a_text_or_elements(content: Any) -> None:
    message = Message.model_validate({"role": "user", "content": content})
    assert isinstance(message.content, type(content))
    assert Message.model_validate(_framed(message)) == message


@MANY
@given(st.lists(elements(2), max_size=3))
def test_a_message_without_null_fields_is_the_same_message(content: list[dict[str, Any]]) -> None:
    """Many senders leave out null fields."""
    message = Message.model_validate({"role": "user", "content": content})
    short = message.model_dump(mode="json", exclude_none=True)
    assert Message.model_validate(short).model_dump_json() == message.model_dump_json()


@FEW
@given(contexts())
def test_a_context_is_unchanged_after_a_round_trip(data: dict[str, Any]) -> None:
    context = AgentRunContext.model_validate(data)
    assert AgentRunContext.model_validate(_framed(context)) == context


@FEW
@given(contexts(), json_objects)
def test_a_context_with_unknown_fields_of_a_newer_host_is_accepted(data: dict[str, Any], more: dict[str, Any]) -> None:
    """Every entity may have unknown fields."""
    newer = {f"new_{key}": value for key, value in more.items()}
    for part in ("trigger", "event", "input", "delivery", "resources", "context", "runtime"):
        data[part] |= newer
    for element in data["input"]["contents"]:
        element |= newer
    data["resources"]["models"][0] |= newer
    if data["bootstrap"] is not None:
        data["bootstrap"]["messages"][0] |= newer
        data["bootstrap"]["messages"][0]["tool_calls"][0] |= newer
    assert AgentRunContext.model_validate(data | newer).run_id == data["run_id"]


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(sorted(ENTITIES)), json_values)
def test_arbitrary_json_is_accepted_or_refused(name: str, data: Any) -> None:
    _check_accepted_or_refused(name, data)


@settings(deadline=None, max_examples=300)
@given(spoiled())
def test_an_entity_with_a_changed_value_is_accepted_or_refused(found: tuple[str, Any]) -> None:
    _check_accepted_or_refused(*found)


def _check_accepted_or_refused(name: str, data: Any) -> None:
    try:
        read = ENTITIES[name].model_validate(data)
    except ValidationError:
        return
    assert ENTITIES[name].model_validate(from_json(read.model_dump_json())) == read


@MANY
@given(st.text(max_size=12).filter(lambda kind: kind not in ELEMENTS))
def test_an_element_of_an_unknown_type_is_refused_by_name(kind: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        CONTENTS.validate_python([{**golden("TextElement"), "type": kind}])
    (error,) = refusal.value.errors(include_url=False)
    assert (error["type"], error["loc"]) == ("union_tag_invalid", (0,))
    assert all(name in error["msg"] for name in (kind, *ELEMENTS))
