"""Tests entity tags of configured resources: an outdated one is refused with the names of the changed parts."""

from dataclasses import asdict
from typing import Any

import pytest

from parlour.core.model.agent import Agent
from parlour.core.model.resource_policy import ResourcePolicy
from parlour.http.errors import Problem
from parlour.http.etags import check_if_match, compute_etag

READ: dict[str, Any] = {"name": "Helper", "config": {"prompt": "Be brief.", "tools": []}, "enabled": True}


def refusal(wanted: str, parts: dict[str, Any]) -> Problem:
    with pytest.raises(Problem) as refused:
        check_if_match("agent 'Helper'", wanted, parts)
    return refused.value


def is_accepted(wanted: str | None, parts: dict[str, Any]) -> bool:
    try:
        check_if_match("agent 'Helper'", wanted, parts)
    except Problem:
        return False
    return True


def test_the_tag_does_not_depend_on_the_order_of_the_parts() -> None:
    assert compute_etag(dict(reversed(READ.items()))) == compute_etag(READ)


@pytest.mark.parametrize("changed", [{"name": "Other"}, {"config": {}}, {"enabled": False}])
def test_a_refusal_names_the_changed_part(changed: dict[str, Any]) -> None:
    refused = refusal(compute_etag(READ), READ | changed)

    [name] = changed
    assert (refused.status, refused.code, refused.details) == (412, "changed_meanwhile", {"changed": [name]})
    assert refused.message.startswith(f"agent 'Helper' was changed meanwhile: {name}; ")


def test_a_refusal_names_every_changed_part() -> None:
    assert refusal(compute_etag(READ), READ | {"name": "Other", "enabled": False}).details == {
        "changed": ["enabled", "name"]
    }


@pytest.mark.parametrize(
    "wanted", [None, "*", compute_etag(READ), f"W/{compute_etag(READ)}", f'"of another one", {compute_etag(READ)}']
)
def test_a_change_with_the_current_tag_or_without_a_tag_is_accepted(wanted: str | None) -> None:
    assert is_accepted(wanted, READ)


@pytest.mark.parametrize("wanted", ['""', '"nonsense"', "nonsense", compute_etag({"name": "Helper"})])
def test_a_foreign_tag_is_refused_without_names_of_parts(wanted: str) -> None:
    refused = refusal(wanted, READ)

    assert refused.details == {"changed": []}
    assert "meanwhile; read it again" in refused.message


def test_an_agent_has_the_same_tag_after_it_was_stored_and_loaded() -> None:
    policy = {"models": ["large", "small"], "rules": [{"when": {"users": ["1"]}, "allow": {"tools": "*"}}]}
    agent = Agent("1", "Helper", "runner", "", {"b": 1, "a": 1.5}, ResourcePolicy.decode(policy), timeout_seconds=30.0)

    assert compute_etag(asdict(Agent.decode(agent.encode()))) == compute_etag(asdict(agent))
