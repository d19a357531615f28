"""The bounds that the protocol itself enforces."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from parlour_sdk.protocol.errors import AgentAPIError, AgentAPIException
from parlour_sdk.protocol.limits import KEY_CHARACTERS, LARGEST_INTEGER
from parlour_sdk.protocol.results import AgentRunResult, StateUpdated
from parlour_sdk.protocol.run_api import StateDelete, StateGet, StateSet, SteeringPull

HEAD = {"run_id": "run", "call_id": "run:1"}
KEYED: list[tuple[type[BaseModel], dict[str, Any]]] = [
    (StateGet, {**HEAD, "scope": "actor"}),
    (StateSet, {**HEAD, "scope": "actor", "value": 1}),
    (StateDelete, {**HEAD, "scope": "actor"}),
    (StateUpdated, {"scope": "actor", "value": 1}),
]


@pytest.mark.parametrize(("entity", "fields"), KEYED, ids=lambda value: getattr(value, "__name__", ""))
def test_a_key_has_between_one_and_255_characters(entity: type[BaseModel], fields: dict[str, Any]) -> None:
    entity.model_validate({**fields, "key": "é" * KEY_CHARACTERS})
    entity.model_validate({**fields, "key": "k"})
    for key in ("", "k" * (KEY_CHARACTERS + 1)):
        with pytest.raises(ValidationError, match="key"):
            entity.model_validate({**fields, "key": key})


@pytest.mark.parametrize(("entity", "fields"), KEYED, ids=lambda value: getattr(value, "__name__", ""))
def test_a_scope_is_one_of_five(entity: type[BaseModel], fields: dict[str, Any]) -> None:
    for scope in ("conversation", "actor", "subject", "runner", "binding"):
        entity.model_validate({**fields, "key": "k", "scope": scope})
    with pytest.raises(ValidationError, match="scope"):
        entity.model_validate({**fields, "key": "k", "scope": "galaxy"})


@pytest.mark.parametrize("sequence", [0, -1, LARGEST_INTEGER + 1, 2**63])
def test_a_sequence_starts_at_one_and_fits_everywhere(sequence: int) -> None:
    fields = {"run_id": "run", "type": "message.delta"}
    for fine in (None, 1, LARGEST_INTEGER):
        assert AgentRunResult.model_validate({**fields, "sequence": fine}).sequence == fine
    with pytest.raises(ValidationError, match="sequence"):
        AgentRunResult.model_validate({**fields, "sequence": sequence})


@pytest.mark.parametrize("limit", [0, -1])
def test_nobody_pulls_fewer_than_one(limit: int) -> None:
    with pytest.raises(ValidationError, match="limit"):
        SteeringPull.model_validate({**HEAD, "limit": limit})


def test_an_api_exception_reads_as_its_error() -> None:
    failure = AgentAPIException(AgentAPIError(code="rate_limited", message="slow down", retryable=True))
    assert str(failure) == "rate_limited: slow down"
    assert failure.code == "rate_limited"
