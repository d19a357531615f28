"""Authorization snapshots: which scopes a run has, and that no two things that must be apart share a key."""

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

from ..support import PLUGIN, RUNNER, make_agent, message, recorded

ALL = ("conversation", "actor", "subject", "binding", "runner")


def descriptor(steering: bool = True, runner_id: str = RUNNER) -> RunnerDescriptor:
    manifest = {"id": runner_id, "name": "default", "label": {"en_US": "P"}, "capabilities": {"steering": steering}}
    return RunnerDescriptor(runner_id, PLUGIN, "1", AgentRunnerManifest.model_validate(manifest))


def grant(
    event: RecordedEvent | None = None, scopes: tuple[str, ...] = ALL, agent: str = "agent", **more: Any
) -> Grant:
    recorded_event = event or recorded(subject=Participant("file", "f1"))
    binding = Binding(make_agent(agent, state_policy=StatePolicy(scopes=scopes)), recorded_event.envelope.bot_id)
    return compute(recorded_event, binding, descriptor(**more), Providers())


def test_a_run_has_the_scopes_that_its_policy_names() -> None:
    assert set(grant(scopes=("actor", "binding")).scopes) == {"actor", "binding"}


def test_the_default_policy_leaves_out_runner() -> None:
    binding = Binding(make_agent(), "")
    scopes = compute(recorded(subject=Participant("file", "f1")), binding, descriptor(), Providers()).scopes
    assert set(scopes) == {"conversation", "actor", "subject", "binding"}


def test_a_stored_agent_keeps_the_scopes_that_it_names() -> None:
    stored = make_agent(state_policy=StatePolicy(scopes=("conversation", "actor", "binding"))).encode()
    assert Agent.decode(stored).state_policy.scopes == ("conversation", "actor", "binding")


def test_a_policy_that_is_off_grants_no_state_at_all() -> None:
    binding = Binding(make_agent(state_policy=StatePolicy(enabled=False)), "")
    made = compute(recorded(), binding, descriptor(), Providers())
    assert len(made.scopes) == 0
    assert "state" not in made.apis


@pytest.mark.parametrize(
    ("scope", "event"), [("actor", recorded(actor="")), ("subject", recorded())], ids=["no actor", "no subject"]
)
def test_a_scope_whose_ids_the_event_lacks_does_not_exist(scope: str, event: RecordedEvent) -> None:
    assert set(ALL) - set(grant(event).scopes) == {scope} | ({"subject"} if scope == "actor" else set())


def test_a_scope_that_nobody_knows_does_not_exist() -> None:
    assert set(grant(scopes=("actor", "galaxy")).scopes) == {"actor"}


def test_steering_is_granted_to_runners_that_can_be_steered() -> None:
    assert "steering_pull" in grant(steering=True).apis
    assert "steering_pull" not in grant(steering=False).apis


def test_what_is_available_is_what_was_granted_and_the_protocol_knows_it() -> None:
    made = grant()
    told = available_apis(made)
    assert {name for name, available in told.items() if available} == made.apis
    assert set(told) <= set(AvailableApis.model_fields)


def test_the_ledger_keeps_names_of_scopes_and_never_their_keys() -> None:
    made = grant()
    kept = loads(made.encode())
    assert kept["apis"] == ["state", "steering_pull"]
    assert kept["state_scopes"] == sorted(ALL)
    assert not any(key in made.encode() for key in made.scopes.values())


def test_the_binding_is_the_agent_and_the_bot() -> None:
    ids = {Binding(make_agent(agent), bot).binding_id for agent in ("a", "b") for bot in ("x", "y")}
    assert len(ids) == 4


BASE = message(subject=Participant("file", "f1"), surface="platform")
APART = {
    "bot": replace(BASE, bot_id="bot2"),
    "workspace": replace(BASE, workspace_id="other"),
    "thread": replace(BASE, thread_id="t"),
    "actor": replace(BASE, actor=Participant("user", "bob")),
    "actor type": replace(BASE, actor=Participant("bot", "ann")),
    "subject": replace(BASE, subject=Participant("file", "f2")),
}
SEPARATES = {
    "conversation": {"bot", "workspace", "thread"},
    "actor": {"bot", "workspace", "actor", "actor type"},
    "subject": {"bot", "workspace", "subject"},
    "binding": {"bot", "workspace"},
    "runner": {"workspace"},
}


@pytest.mark.parametrize("scope", ALL)
@pytest.mark.parametrize("difference", APART)
def test_a_scope_is_shared_exactly_where_it_should_be(scope: str, difference: str) -> None:
    base = grant(RecordedEvent(1, "conversation", 0, BASE)).scopes[scope]
    other = grant(RecordedEvent(1, "conversation", 0, APART[difference])).scopes[scope]
    assert (base != other) == (difference in SEPARATES[scope])


@pytest.mark.parametrize("scope", ALL)
def test_two_agents_share_nothing_but_the_runners_scope(scope: str) -> None:
    assert (grant(agent="a").scopes[scope] == grant(agent="b").scopes[scope]) == (scope == "runner")


@pytest.mark.parametrize("scope", ALL)
def test_two_runners_share_nothing(scope: str) -> None:
    other = "plugin:acme/other/default"
    assert grant().scopes[scope] != grant(runner_id=other).scopes[scope]


def test_two_conversations_share_no_conversation_state() -> None:
    assert (
        grant(recorded(conversation_id="a")).scopes["conversation"]
        != (grant(recorded(conversation_id="b")).scopes["conversation"])
    )


def test_no_two_scopes_of_a_run_share_a_key() -> None:
    keys = list(grant().scopes.values())
    assert len(set(keys)) == len(keys) == len(ALL)


parts = st.text(alphabet="ab:/,\"'", max_size=3)


@given(st.lists(st.tuples(parts, parts, parts, parts), min_size=2, max_size=5, unique=True))
def test_ids_that_look_alike_never_share_an_actors_key(ids: list[tuple[str, str, str, str]]) -> None:
    keys = {}
    for bot, workspace, kind, name in ids:
        event = message(surface="platform", bot_id=bot, workspace_id=workspace)
        event = replace(event, actor=Participant(kind, name + "!"))
        keys[bot, workspace, kind, name] = grant(RecordedEvent(1, "c", 0, event)).scopes["actor"]
    for one, other in combinations(ids, 2):
        assert keys[one] != keys[other]
