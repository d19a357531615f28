"""The gate for every action of the table: allowed callers, refusals and their audit records."""

import asyncio
from typing import Any

import pytest

from parlour.core.access.denial_log import (
    MAX_SINGLE_ROWS_PER_WINDOW,
    MIN_SINGLE_ROWS_PER_KIND,
    WINDOW_SECONDS,
    DenialLog,
)
from parlour.core.actions.gate import Gate
from parlour.core.encoding import dumps, loads
from parlour.core.errors import CallRejected
from parlour.core.model.agent import StatePolicy
from parlour.core.redaction import Redactor
from parlour.core.runs.session import CALLS_BURST, CALLS_PER_SECOND, RunTermination
from parlour.core.store.tables import AUDIT, EVENTS
from parlour_sdk.protocol.host_actions import HOST_ACTIONS as ACTIONS
from parlour_sdk.protocol.host_actions import HostAction as Action
from parlour_sdk.protocol.limits import STATE_VALUE_BYTES
from parlour_sdk.protocol.manifest import PluginPermissions

from ..support import DISCOVERY, PLUGIN, PuppetRun, World, make_agent

ARGUMENTS: dict[str, Any] = {"scope": "conversation", "key": "k", "value": "v"}
OPEN = [
    action
    for action in ACTIONS.values()
    if action.name.startswith("state_") or action.name in ("steering_pull", "get_host_version")
]
"""Actions that every run of the puppet plugin may call."""
EVERY = pytest.mark.parametrize("action", OPEN, ids=lambda action: action.name)
GUARDED = [action for action in OPEN if action.api]
SCOPED = [action for action in OPEN if action.scope == "state"]


def request(action: Action, run_id: str, **more: Any) -> dict[str, Any]:
    """Builds the smallest valid request of an action."""
    needed = {
        name: ARGUMENTS[name]
        for name, field in action.request.model_fields.items()
        if field.is_required() and name in ARGUMENTS
    }
    return {"run_id": run_id, "call_id": f"{run_id}:1", **needed, **more}


async def active(**agent: Any) -> tuple[World, PuppetRun]:
    world = await World.open(make_agent(**agent))
    await world.say("hi")
    return world, await world.plugins.next_run()


async def refused_call(world: World, action: Action, plugin: str = PLUGIN, **request_fields: Any) -> CallRejected:
    with pytest.raises(CallRejected) as refusal:
        await world.core.gate.call(plugin, action.name, request_fields)
    return refusal.value


def denials(world: World) -> list[dict[str, Any]]:
    rows = world.rows(EVENTS, event_type="access.denied")
    return [{**loads(row["body"])["data"], "plugin": row["actor_id"]} for row in rows]


def expect_recorded(world: World, action: Action, run_id: str, refusal: CallRejected, plugin: str = PLUGIN) -> None:
    """Checks that the refusal is stored by the time the caller receives it."""
    assert denials(world) == [
        {
            "action": action.name,
            "run_id": run_id,
            "code": refusal.code,
            "message": refusal.message,
            "plugin": plugin,
        }
    ]


@EVERY
async def test_plugin_of_the_run_is_answered_without_denials(action: Action) -> None:
    world, run = await active()
    answer = await world.core.gate.call(PLUGIN, action.name, request(action, run.run_id))
    assert isinstance(answer, dict)
    assert denials(world) == []


@EVERY
async def test_unknown_run_is_refused(action: Action) -> None:
    world, _ = await active()
    refusal = await refused_call(world, action, **request(action, "no-such-run"))
    assert refusal.code == "unauthorized"
    expect_recorded(world, action, "no-such-run", refusal)


@EVERY
async def test_ended_run_is_refused(action: Action) -> None:
    world, run = await active()
    run.answer("hello")
    await world.rest()
    refusal = await refused_call(world, action, **request(action, run.run_id))
    assert refusal.code == "unauthorized"
    expect_recorded(world, action, run.run_id, refusal)


@EVERY
async def test_stopping_run_is_refused(action: Action) -> None:
    world, run = await active()
    session = world.core.sessions.get(run.run_id)
    assert session is not None
    session.stop(RunTermination("cancelled", "cancelled"))
    refusal = await refused_call(world, action, **request(action, run.run_id))
    assert refusal.code == "cancelled"
    await world.rest()


@EVERY
async def test_other_plugin_gets_the_refusal_of_an_unknown_run(action: Action) -> None:
    world, run = await active()
    refusal = await refused_call(world, action, plugin="evil/twin", **request(action, run.run_id))
    unknown = await refused_call(
        World(world.journal, world.plugins, world.surface, world.ids), action, **request(action, "x")
    )
    assert (refusal.code, refusal.message) == (unknown.code, unknown.message)
    assert denials(world)[0]["plugin"] == "evil/twin"


@pytest.mark.parametrize("action", GUARDED, ids=lambda action: action.name)
async def test_ungranted_api_is_refused(action: Action) -> None:
    world = await World.open(make_agent(state_policy=StatePolicy(enabled=False)))
    manifest = {**DISCOVERY["manifest"], "capabilities": {}}
    world.core.registry.replace_plugin(PLUGIN, "2", [{**DISCOVERY, "manifest": manifest}])
    await world.say("hi")
    run = await world.plugins.next_run()
    refusal = await refused_call(world, action, **request(action, run.run_id))
    assert refusal.code == "unauthorized"
    assert action.api in refusal.message
    expect_recorded(world, action, run.run_id, refusal)


@pytest.mark.parametrize("action", SCOPED, ids=lambda action: action.name)
async def test_ungranted_scope_is_refused(action: Action) -> None:
    world, run = await active(state_policy=StatePolicy(scopes=("actor",)))
    refusal = await refused_call(world, action, **request(action, run.run_id, scope="conversation"))
    assert refusal.code == "unauthorized"
    assert "conversation" in refusal.message
    expect_recorded(world, action, run.run_id, refusal)


@EVERY
async def test_oversized_request_is_refused_with_its_limit(action: Action) -> None:
    world, run = await active()
    fields = request(action, run.run_id)
    fields["call_id"] = "x" * (action.max_bytes + 1)
    refusal = await refused_call(world, action, **fields)
    assert refusal.code == "payload_too_large"
    assert str(action.max_bytes) in refusal.message
    expect_recorded(world, action, run.run_id, refusal)


@EVERY
async def test_request_of_exactly_the_maximum_size_is_executed(action: Action) -> None:
    """Fields that are left to their defaults don't count for the size."""
    world, run = await active()
    fields = request(action, run.run_id)
    fields["call_id"] += "x" * (action.max_bytes - len(dumps(fields)))
    assert isinstance(await world.core.gate.call(PLUGIN, action.name, fields), dict)
    assert denials(world) == []


@EVERY
async def test_run_over_its_call_rate_is_refused_until_tokens_refill(action: Action) -> None:
    world, run = await active()
    session = world.core.sessions.get(run.run_id)
    assert session is not None
    assert all(session.rate.try_acquire() for _ in range(CALLS_BURST))
    assert (await refused_call(world, action, **request(action, run.run_id))).code == "rate_limited"
    await asyncio.sleep(1 / CALLS_PER_SECOND)
    assert isinstance(await world.core.gate.call(PLUGIN, action.name, request(action, run.run_id)), dict)


@EVERY
async def test_unwritten_denial_is_a_runtime_error(action: Action) -> None:
    world, _ = await active()
    world.journal.broken["access.deny"] = 1
    assert (await refused_call(world, action, **request(action, "no-such-run"))).code == "runtime_error"


async def test_further_refusals_within_a_minute_are_counted_in_one_row() -> None:
    world, _ = await active()
    action = ACTIONS["state_get"]
    for _ in range(MAX_SINGLE_ROWS_PER_WINDOW + 5):
        await refused_call(world, action, **request(action, "no-such-run"))
    await refused_call(world, action, plugin="test/another", **request(action, "no-such-run"))
    await asyncio.sleep(WINDOW_SECONDS)
    await refused_call(world, action, **request(action, "no-such-run"))

    [counted] = world.rows(AUDIT, code="repeated")
    assert loads(counted["detail"]) == {"count": 5, "actions": {"state_get": 5}}
    single_rows = [row["plugin_id"] for row in world.rows(AUDIT, code="unauthorized")]
    assert single_rows == [PLUGIN] * MAX_SINGLE_ROWS_PER_WINDOW + ["test/another", PLUGIN]
    assert len(denials(world)) == MAX_SINGLE_ROWS_PER_WINDOW + 3


async def test_many_refusals_do_not_hide_those_of_another_action() -> None:
    world, _ = await active()
    flooded, hidden = ACTIONS["state_get"], ACTIONS["state_set"]
    for action in [flooded] * (MAX_SINGLE_ROWS_PER_WINDOW + 5) + [hidden] * (MIN_SINGLE_ROWS_PER_KIND + 2):
        await refused_call(world, action, **request(action, "no-such-run"))

    assert len(world.rows(AUDIT, action="state_set")) == MIN_SINGLE_ROWS_PER_KIND
    [counted] = world.rows(AUDIT, code="repeated")
    assert loads(counted["detail"]) == {"count": 7, "actions": {"state_get": 5, "state_set": 2}}


async def test_uncommitted_count_of_refusals_is_added_to_the_next() -> None:
    world, _ = await active()
    action = ACTIONS["state_get"]
    for _ in range(MAX_SINGLE_ROWS_PER_WINDOW):
        await refused_call(world, action, **request(action, "no-such-run"))
    world.journal.broken["access.deny"] = 1
    assert (await refused_call(world, action, **request(action, "no-such-run"))).code == "runtime_error"
    assert (await refused_call(world, action, **request(action, "no-such-run"))).code == "unauthorized"

    [counted] = world.rows(AUDIT, code="repeated")
    assert loads(counted["detail"])["count"] == 2


@EVERY
async def test_malformed_request_is_refused_with_its_field(action: Action) -> None:
    world, run = await active()
    refusal = await refused_call(world, action, **request(action, run.run_id, call_id=1))
    assert refusal.code == "invalid_argument"
    assert action.name in refusal.message
    assert "call_id" in refusal.message


@EVERY
async def test_unknown_field_of_a_newer_plugin_is_ignored(action: Action) -> None:
    world, run = await active()
    assert isinstance(await world.core.gate.call(PLUGIN, action.name, request(action, run.run_id, added=1)), dict)


@pytest.mark.parametrize("data", [None, [], "x", 5, {}])
@EVERY
async def test_request_without_a_run_is_refused(action: Action, data: Any) -> None:
    world = await World.open()
    with pytest.raises(CallRejected) as refusal:
        await world.core.gate.call(PLUGIN, action.name, data)
    assert refusal.value.code == "invalid_argument"


async def test_unknown_action_is_not_supported() -> None:
    world = await World.open()
    with pytest.raises(CallRejected) as refusal:
        await world.core.gate.call(PLUGIN, "format_disk", {})
    assert refusal.value.code == "not_supported"


async def test_gate_with_missing_handlers_cannot_be_built() -> None:
    world = await World.open()
    with pytest.raises(ValueError, match="get_host_version"):
        Gate(
            {},
            world.core.sessions,
            lambda plugin_id: PluginPermissions(),
            world.core.audit_log,
            DenialLog(world.journal, world.clock, world.ids),
            Redactor(),
            world.clock,
        )


async def test_value_of_the_maximum_size_is_accepted() -> None:
    world, run = await active()
    value = "x" * (STATE_VALUE_BYTES - 2)
    assert await world.call(run, "state_set", scope="actor", key="k", value=value) == {}


async def test_database_failure_is_a_runtime_error_for_the_plugin() -> None:
    world, run = await active()
    world.journal.broken["state.set"] = 1
    with pytest.raises(CallRejected) as refusal:
        await world.call(run, "state_set", scope="actor", key="k", value=1)
    assert refusal.value.code == "runtime_error"


async def test_started_action_completes_after_its_caller_is_cancelled() -> None:
    world, run = await active()
    call = asyncio.create_task(world.call(run, "state_set", scope="actor", key="k", value=1))
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.sleep(1)
    assert await world.call(run, "state_get", scope="actor", key="k") == {"found": True, "value": 1}
