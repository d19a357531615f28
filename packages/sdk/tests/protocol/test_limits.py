"""Tests limits of the protocol across fields, and the messages of its errors."""

from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from parlour_sdk.protocol.chain import Component, Forward, Quote
from parlour_sdk.protocol.content import QuoteElement
from parlour_sdk.protocol.errors import CODES, AgentAPIError, AgentAPIException
from parlour_sdk.protocol.limits import KEY_CHARACTERS, NESTED_QUOTES
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.platform_api import NotSupportedError
from parlour_sdk.protocol.platform_events import FriendAdded
from parlour_sdk.protocol.runs import RunCreate
from parlour_sdk.protocol.state import StateGet
from parlour_sdk.wire.limits import DEFAULT_LIMITS

from .entities import ENTITIES, golden

COMPONENT: TypeAdapter[Any] = TypeAdapter(Component)


def _elements(depth: int) -> dict[str, Any]:
    inner = [_elements(depth - 1)] if depth > 1 else [{"type": "text", "text": "deep"}]
    return {"type": "quote", "contents": inner}


def _quotes(depth: int) -> dict[str, Any]:
    return {"type": "Quote", "origin": [_quotes(depth - 1)] if depth > 1 else [{"type": "Plain", "text": "deep"}]}


def _forwards(depth: int) -> dict[str, Any]:
    return {"type": "Forward", "nodes": [{"chain": [_forwards(depth - 1)]}] if depth > 1 else []}


def _mixed(depth: int) -> dict[str, Any]:
    inner = [_mixed(depth - 1)] if depth > 1 else []
    return {"type": "Quote", "origin": inner} if depth % 2 else {"type": "Forward", "nodes": [{"chain": inner}]}


NESTING = [(QuoteElement, _elements), (Quote, _quotes), (Forward, _forwards), (COMPONENT, _mixed)]


@pytest.mark.parametrize(("kind", "nested"), NESTING, ids=["elements", "quotes", "forwards", "mixed"])
def test_quotes_and_forwards_nest_at_most_eight_levels(kind: Any, nested: Any) -> None:
    validate = kind.validate_python if isinstance(kind, TypeAdapter) else kind.model_validate
    validate(nested(NESTED_QUOTES))
    with pytest.raises(ValidationError, match=f"nest at most {NESTED_QUOTES} deep"):
        validate(nested(NESTED_QUOTES + 1))


@pytest.mark.parametrize("nested", [_elements, _quotes, _forwards], ids=["elements", "quotes", "forwards"])
@pytest.mark.parametrize("depth", [50, 300])
def test_a_very_deep_quote_is_refused(nested: Any, depth: int) -> None:
    with pytest.raises(ValidationError):
        Message.model_validate({"role": "user", "content": [nested(depth)]})
    with pytest.raises(ValidationError):
        COMPONENT.validate_python(nested(depth))


def test_the_deepest_allowed_nesting_fits_into_a_frame() -> None:
    """Eight nested forwards are the maximum. The frame and the context around them add a bounded depth."""
    frame_and_context = 16
    assert _depth(_forwards(NESTED_QUOTES)) + frame_and_context <= DEFAULT_LIMITS.max_depth
    assert _depth(golden("AgentRunRequest")) <= frame_and_context


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(_depth, inner), default=0)


def test_a_key_is_counted_in_characters_not_bytes() -> None:
    longest = "世" * KEY_CHARACTERS
    assert StateGet.model_validate({**golden("StateGet"), "key": longest}).key == longest
    with pytest.raises(ValidationError, match="at most"):
        StateGet.model_validate({**golden("StateGet"), "key": longest + "a"})


def test_a_run_without_agent_and_runner_is_refused() -> None:
    with pytest.raises(ValidationError, match="give exactly one of agent_id and runner_id"):
        RunCreate.model_validate({**golden("RunCreate"), "agent_id": None})


def test_the_native_object_of_an_event_is_not_serialized() -> None:
    native = object()
    plain = FriendAdded.model_validate(golden("FriendAdded"))
    event = plain.carrying(native)
    assert (event.native, plain.native) == (native, None)
    assert event.model_dump() == plain.model_dump()
    assert event.model_dump_json() == plain.model_dump_json()


def test_a_native_object_in_received_data_is_ignored() -> None:
    event = FriendAdded.model_validate({**golden("FriendAdded"), "native": 1, "_native": 1})
    assert event.native is None


@pytest.mark.parametrize("code", [*CODES, "moon_phase"])
def test_an_unknown_code_is_treated_as_a_runtime_error(code: str) -> None:
    failure = AgentAPIException(AgentAPIError(code=code, message="not tonight", retryable=True, details={"a": 1}))
    assert str(failure) == f"{code}: not tonight"
    assert (failure.code, failure.kind) == (code, code if code in CODES else "runtime_error")
    assert (failure.message, failure.retryable, failure.details) == ("not tonight", True, {"a": 1})


def test_an_unsupported_api_is_named_in_the_error() -> None:
    error = NotSupportedError("react")
    assert (str(error), error.code, error.api) == (
        "this bot's platform does not support react",
        "not_supported",
        "react",
    )
    assert error.code in CODES


@pytest.mark.parametrize(
    ("entity", "field", "value", "sentence"),
    [
        ("HistoryPageGet", "limit", 101, "limit: Input should be less than or equal to 100"),
        ("StateGet", "scope", "galaxy", "'conversation', 'actor', 'subject', 'runner' or 'binding'"),
        ("StateGet", "key", "", "key: String should have at least 1 character"),
        ("Rerank", "documents", ["a"] * 65, "documents: List should have at most 64 items"),
        ("Message", "content", [{"type": "hologram"}], "content.elements.0: Input tag 'hologram'"),
        ("Message", "content", [{"type": "image"}], "content.elements.0.image: Value error, give exactly one of url"),
        ("Message", "content", 5, "content.text: Input should be a valid string"),
        ("SendMessage", "chain", [{"type": "Plain"}], "chain.0.Plain.text: Field required"),
        ("RunCompleted", "finish_reason", "bored", "'tool_limit', 'budget', 'interrupted' or 'error'"),
    ],
)
def test_a_validation_error_names_the_field_and_the_accepted_values(
    entity: str, field: str, value: Any, sentence: str
) -> None:
    with pytest.raises(ValidationError) as refusal:
        ENTITIES[entity].model_validate({**golden(entity), field: value})
    assert sentence in _first(refusal.value)


def _first(error: ValidationError) -> str:
    detail = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in detail['loc'])}: {detail['msg']}"


def test_message_entities_are_subclasses_of_message() -> None:
    """A received message can be sent again, and a payload can be used like any message."""
    pairs: list[tuple[str, type[BaseModel]]] = [("PayloadMessage", Message), ("MessageChunk", Message)]
    assert all(issubclass(ENTITIES[name], family) for name, family in pairs)
