"""Allowed calls are recorded with the next write of their run, or within a second."""

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


def allowed_actions(world: World, run_id: str) -> list[str]:
    return [row["action"] for row in world.rows(AUDIT, kind="access", outcome="allowed", run_id=run_id)]


async def call_outside_a_run(world: World) -> None:
    await world.core.gate.call(PLUGIN, "get_host_version", {"call_id": "1"})


async def test_call_of_a_run_is_recorded_with_its_next_write() -> None:
    world, run = await active()
    await world.call(run, "state_list", scope="conversation")
    assert allowed_actions(world, run.run_id) == []

    run.answer("done")
    await world.rest()

    assert allowed_actions(world, run.run_id) == ["state_list"]
    assert "audit.write" not in world.journal.units


async def test_call_of_a_run_without_writes_is_recorded_within_a_second() -> None:
    world, run = await active()
    await world.call(run, "state_list", scope="conversation")

    await until(lambda: allowed_actions(world, run.run_id), seconds=1.1)

    run.answer("done")
    await world.rest()
    assert allowed_actions(world, run.run_id) == ["state_list"]


async def test_call_outside_a_run_is_recorded_within_a_second() -> None:
    world = await World.open(plugin_grants=lambda plugin_id: PluginPermissions())
    await call_outside_a_run(world)

    await until(lambda: allowed_actions(world, ""), seconds=1.1)

    (row,) = world.rows(AUDIT, run_id="")
    assert (row["plugin_id"], row["runner_id"], row["action"]) == (PLUGIN, "", "get_host_version")


async def test_waiting_entries_are_recorded_when_the_host_stops() -> None:
    world, run = await active()
    await world.call(run, "state_list", scope="conversation")
    await call_outside_a_run(world)

    await world.core.audit_log.close()

    assert (allowed_actions(world, run.run_id), allowed_actions(world, "")) == (["state_list"], ["get_host_version"])


async def test_calls_are_recorded_when_the_unit_that_carried_them_fails() -> None:
    world, run = await active()
    await world.call(run, "state_list", scope="conversation")
    world.journal.broken["run.end"] = 1
    run.answer("done")

    await until(lambda: allowed_actions(world, run.run_id), seconds=10)

    assert allowed_actions(world, run.run_id) == ["state_list"]


async def test_failed_audit_write_is_retried() -> None:
    world, run = await active()
    world.journal.broken["audit.write"] = 3
    await world.call(run, "state_list", scope="conversation")

    await until(lambda: allowed_actions(world, run.run_id), seconds=10)

    assert not world.journal.broken["audit.write"]


async def test_call_is_refused_when_the_audit_queue_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_writer, "MAX_WAITING_ENTRIES", 2)
    world = await World.open()
    await call_outside_a_run(world)
    await call_outside_a_run(world)

    with pytest.raises(CallRejected, match="audit") as refusal:
        await call_outside_a_run(world)
    await asyncio.sleep(1.5)

    assert refusal.value.retryable
    await call_outside_a_run(world)
    assert len(allowed_actions(world, "")) == 2
