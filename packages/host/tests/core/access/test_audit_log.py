"""Allowed calls are recorded: with the run's next write, or within a second, whatever else happens."""

import asyncio

import pytest

from parlour.core.access import audit_writer
from parlour.core.errors import CallRejected
from parlour.core.store.tables import AUDIT
from parlour_sdk.protocol.manifest import PluginPermissions

from ..support import PLUGIN, PuppetRun, World, until


async def active(**ports: object) -> tuple[World, PuppetRun]:
    world = await World.open(**ports)
    await world.say("hi")
    return world, await world.plugins.next_run()


def allowed(world: World, run_id: str) -> list[str]:
    return [row["action"] for row in world.rows(AUDIT, kind="access", outcome="allowed", run_id=run_id)]


async def ask_outside(world: World) -> None:
    await world.core.gate.call(PLUGIN, "get_host_version", {"call_id": "1"})


async def test_a_call_of_a_run_is_recorded_with_the_runs_next_write() -> None:
    world, run = await active()
    await world.call(run, "state_list", scope="conversation")
    assert allowed(world, run.run_id) == []

    run.answer("done")
    await world.rest()

    assert allowed(world, run.run_id) == ["state_list"]
    assert "audit.write" not in world.journal.units


async def test_a_call_of_a_run_that_writes_nothing_is_recorded_within_a_second() -> None:
    world, run = await active()
    await world.call(run, "state_list", scope="conversation")

    await until(lambda: allowed(world, run.run_id), seconds=1.1)

    run.answer("done")
    await world.rest()
    assert allowed(world, run.run_id) == ["state_list"]


async def test_a_call_outside_any_run_is_recorded_within_a_second() -> None:
    world = await World.open(plugin_grants=lambda plugin_id: PluginPermissions())
    await ask_outside(world)

    await until(lambda: allowed(world, ""), seconds=1.1)

    (row,) = world.rows(AUDIT, run_id="")
    assert (row["plugin_id"], row["runner_id"], row["action"]) == (PLUGIN, "", "get_host_version")


async def test_what_waits_is_recorded_when_the_host_stops() -> None:
    world, run = await active()
    await world.call(run, "state_list", scope="conversation")
    await ask_outside(world)

    await world.core.audit_log.close()

    assert (allowed(world, run.run_id), allowed(world, "")) == (["state_list"], ["get_host_version"])


async def test_calls_are_recorded_though_the_results_that_took_them_along_were_not() -> None:
    world, run = await active()
    await world.call(run, "state_list", scope="conversation")
    world.journal.broken["run.end"] = 1
    run.answer("done")

    await until(lambda: allowed(world, run.run_id), seconds=10)

    assert allowed(world, run.run_id) == ["state_list"]


async def test_what_the_database_refuses_is_tried_again() -> None:
    world, run = await active()
    world.journal.broken["audit.write"] = 3
    await world.call(run, "state_list", scope="conversation")

    await until(lambda: allowed(world, run.run_id), seconds=10)

    assert not world.journal.broken["audit.write"]


async def test_a_call_that_can_not_be_recorded_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_writer, "MAX_WAITING_ENTRIES", 2)
    world = await World.open()
    await ask_outside(world)
    await ask_outside(world)

    with pytest.raises(CallRejected, match="audit") as refusal:
        await ask_outside(world)
    await asyncio.sleep(1.5)

    assert refusal.value.retryable
    await ask_outside(world)
    assert len(allowed(world, "")) == 2
