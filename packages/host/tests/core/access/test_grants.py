"""Grants: the state scopes of a run, and keys that are shared by no two scopes."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.core.access.grants import Grant, available_apis, compute
from parlour.core.encoding import loads
from parlour.core.model.agent import Agent, Binding, StatePolicy
from parlour.core.model.event import Participant, RecordedEvent
from parlour.core.model.providers import Providers
from parlour.core.model.runner import RunnerDescriptor
from parlour_sdk.protocol.context import AvailableApis
from parlour_sdk.protocol.manifest import AgentRunnerManifest

from ..support import PLUGIN, RUNNER, make_agent, make_recorded_event, message

ALL = ("conversation", "actor", "subject", "binding", "runner")


def descriptor(steering: bool = True, runner_id: str = RUNNER) -> RunnerDescriptor:
    manifest = {"id": runner_id, "name": "default", "label": {"en_US": "P"}, "capabilities": {"steering": steering}}
    return RunnerDescriptor(runner_id, PLUGIN, "1", AgentRunnerManifest.model_validate(manifest))


def grant(
    event: RecordedEvent | None = None, scopes: tuple[str, ...] = ALL, agent: str = "agent", **more: Any
) -> Grant:
    recorded_event = event or make_recorded_event(subject=Participant("file", "f1"))
    binding = Binding(make_agent(agent, state_policy=StatePolicy(scopes=scopes)), recorded_event.envelope.bot_id)
    return compute(recorded_event, binding, descriptor(**more), Providers())


def test_run_has_the_scopes_of_its_policy() -> None:
    assert set(grant(scopes=("actor", "binding")).scopes) == {"actor", "binding"}


def test_default_policy_excludes_the_runner_scope() -> None:
    binding = Binding(make_agent(), "")
    scopes = compute(make_recorded_event(subject=Participant("file", "f1")), binding, descriptor(), Providers()).scopes
    assert set(scopes) == {"conversation", "actor", "subject", "binding"}


def test_stored_agent_keeps_its_scopes() -> None:
    stored = make_agent(state_policy=StatePolicy(scopes=("conversation", "actor", "binding"))).encode()
    assert Agent.decode(stored).state_policy.scopes == ("conversation", "actor", "binding")


def test_disabled_state_policy_grants_no_state() -> None:
    binding = Binding(make_agent(state_policy=StatePolicy(enabled=False)), "")
    computed = compute(make_recorded_event(), binding, descriptor(), Providers())
    assert len(computed.scopes) == 0
    assert "state" not in computed.apis


@pytest.mark.parametrize(
    ("scope", "event"),
    [("actor", make_recorded_event(actor="")), ("subject", make_recorded_event())],
    ids=["no actor", "no subject"],
)
def test_scope_is_missing_if_the_event_lacks_its_ids(scope: str, event: RecordedEvent) -> None:
    assert set(ALL) - set(grant(event).scopes) == {scope} | ({"subject"} if scope == "actor" else set())


def test_unknown_scope_is_ignored() -> None:
    assert set(grant(scopes=("actor", "galaxy")).scopes) == {"actor"}


def test_steering_is_granted_only_to_runners_that_support_it() -> None:
    assert "steering_pull" in grant(steering=True).apis
    assert "steering_pull" not in grant(steering=False).apis


def test_available_apis_are_the_granted_ones_and_are_in_the_protocol() -> None:
    computed = grant()
    available_by_name = available_apis(computed)
    assert {name for name, available in available_by_name.items() if available} == computed.apis
    assert set(available_by_name) <= set(AvailableApis.model_fields)


def test_encoded_grant_has_scope_names_and_no_keys() -> None:
    computed = grant()
    encoded = loads(computed.encode())
    assert encoded["apis"] == ["state", "steering_pull"]
    assert encoded["state_scopes"] == sorted(ALL)
    assert not any(key in computed.encode() for key in computed.scopes.values())


def test_binding_id_is_unique_per_agent_and_bot() -> None:
    ids = {Binding(make_agent(agent), bot).binding_id for agent in ("a", "b") for bot in ("x", "y")}
    assert len(ids) == 4


BASE = message(subject=Participant("file", "f1"), surface="platform")
VARIANTS = {
    "bot": replace(BASE, bot_id="bot2"),
    "workspace": replace(BASE, workspace_id="other"),
    "thread": replace(BASE, thread_id="t"),
    "actor": replace(BASE, actor=Participant("user", "bob")),
    "actor type": replace(BASE, actor=Participant("bot", "ann")),
    "subject": replace(BASE, subject=Participant("file", "f2")),
}
SEPARATING_IDS = {
    "conversation": {"bot", "workspace", "thread"},
    "actor": {"bot", "workspace", "actor", "actor type"},
    "subject": {"bot", "workspace", "subject"},
    "binding": {"bot", "workspace"},
    "runner": {"workspace"},
}


@pytest.mark.parametrize("scope", ALL)
@pytest.mark.parametrize("difference", VARIANTS)
def test_scope_keys_differ_exactly_for_their_separating_ids(scope: str, difference: str) -> None:
    base = grant(RecordedEvent(1, "conversation", 0, BASE)).scopes[scope]
    other = grant(RecordedEvent(1, "conversation", 0, VARIANTS[difference])).scopes[scope]
    assert (base != other) == (difference in SEPARATING_IDS[scope])


@pytest.mark.parametrize("scope", ALL)
def test_agents_share_only_the_runner_scope(scope: str) -> None:
    assert (grant(agent="a").scopes[scope] == grant(agent="b").scopes[scope]) == (scope == "runner")


@pytest.mark.parametrize("scope", ALL)
def test_runners_share_no_scope(scope: str) -> None:
    other = "plugin:acme/other/default"
    assert grant().scopes[scope] != grant(runner_id=other).scopes[scope]


def test_conversations_share_no_conversation_state() -> None:
    assert (
        grant(make_recorded_event(conversation_id="a")).scopes["conversation"]
        != (grant(make_recorded_event(conversation_id="b")).scopes["conversation"])
    )


def test_scopes_of_a_run_have_distinct_keys() -> None:
    keys = list(grant().scopes.values())
    assert len(set(keys)) == len(keys) == len(ALL)


parts = st.text(alphabet="ab:/,\"'", max_size=3)


@given(st.lists(st.tuples(parts, parts, parts, parts), min_size=2, max_size=5, unique=True))
def test_similar_ids_never_share_an_actor_key(ids: list[tuple[str, str, str, str]]) -> None:
    keys = {}
    for bot, workspace, kind, name in ids:
        event = message(surface="platform", bot_id=bot, workspace_id=workspace)
        event = replace(event, actor=Participant(kind, name + "!"))
        keys[bot, workspace, kind, name] = grant(RecordedEvent(1, "c", 0, event)).scopes["actor"]
    for one, other in combinations(ids, 2):
        assert keys[one] != keys[other]
