"""Queued and claimed runs survive a restart of the Host: queue, leases and lanes are kept."""

import asyncio

import pytest

from parlour.core.journal import Row, Select, StorageFailed
from parlour.core.store.tables import AUDIT, QUEUE, RUNS, RUNTIMES, TRANSCRIPT

from ..support import BreakableJournal, World, settle, until
from .worker_support import (
    FORGE,
    Held,
    ask,
    claim,
    create,
    granted,
    heartbeats,
    hold,
    outgoing,
    queue_run,
    status,
    workshop,
)


async def restart(world: World) -> World:
    """Restarts the Host with the same grants."""
    return await world.restart(plugin_grants=granted)


def after_restart(held: Held, world: World) -> Held:
    return Held(world, held.plugin, held.run_id, held.lease, held.claimed, held.sent)


async def test_created_run_starts_after_a_restart_with_its_id_and_grant() -> None:
    world = await workshop()
    first = await create(world, "first")
    run = await world.plugins.next_run()
    later = await create(world, "second", event={"conversation_id": first["conversation_id"]})
    snapshot = world.rows(RUNS, run_id=later["run_id"])[0]["snapshot"]
    assert later["status"] == "created"
    assert run.run_id == first["run_id"]
    world = await restart(world)
    retried = await world.plugins.next_run()
    assert retried.context["runtime"]["attempt"] == 2
    retried.answer("one")
    started = await world.plugins.next_run()
    assert started.run_id == later["run_id"]
    assert world.rows(RUNS, run_id=later["run_id"])[0]["snapshot"] == snapshot
    started.answer("two")
    await world.rest()
    assert outgoing(world) == ["one", "two"]


async def test_queued_run_stays_queued_after_a_restart() -> None:
    world = await workshop()
    run_id = await queue_run(world)
    await until(lambda: world.rows(RUNS, status="queued") != [])
    world = await restart(world)
    await ask(world, FORGE, "runtime_register", runtime_id="anvil")
    held = await claim(world, wait=10)
    assert held is not None
    assert held.run_id == run_id
    assert held.claimed["run"]["attempt"] == 1
    await held.say("done")
    await held.complete()
    await world.rest()
    assert [row["content"] for row in world.rows(TRANSCRIPT)] == ["work", "done"]


async def test_queued_run_is_recovered_after_a_failed_read() -> None:
    class Failing(BreakableJournal):
        failures = 1

        async def read(self, query: Select) -> list[Row]:
            if query.table is QUEUE and query.point_read and Failing.failures:
                Failing.failures -= 1
                raise StorageFailed("storage_full", "the disk is full")
            return await super().read(query)

    world = await workshop(journal=Failing())
    run_id = await queue_run(world)
    await until(lambda: world.rows(RUNS, status="queued") != [])
    world = await restart(world)
    await ask(world, FORGE, "runtime_register", runtime_id="anvil")
    held = await claim(world, wait=10)
    assert Failing.failures == 0
    assert held is not None
    assert held.run_id == run_id


async def test_lease_survives_a_restart() -> None:
    world = await workshop()
    held = await hold(world)
    await held.delta("before ")
    await asyncio.sleep(1)
    world = await restart(world)
    held = after_restart(held, world)
    await settle()
    beats = asyncio.create_task(heartbeats(world))
    await asyncio.sleep(20)
    assert (await held.ask("run_renew"))["cancel_requested"] is False
    await held.delta("before ", sequence=1)
    await held.delta("and after")
    assert (await held.ask("run_finalize", status="completed"))["status"] == "completed"
    beats.cancel()
    await world.rest()
    assert outgoing(world) == ["before and after"]
    assert [row["attempt"] for row in world.rows(RUNS)] == [1]


async def test_accepted_results_are_known_after_a_restart() -> None:
    world = await workshop()
    held = await hold(world)
    await held.say("one")
    world = await restart(world)
    held = after_restart(held, world)
    await settle()
    await held.say("one", sequence=1)
    with pytest.raises(Exception, match="other content"):
        await held.say("two", sequence=1)
    await held.complete()
    await world.rest()
    assert outgoing(world) == ["one"]


async def test_lease_that_is_not_renewed_after_a_restart_is_lost() -> None:
    world = await workshop()
    held = await hold(world)
    world = await restart(world)
    assert await status(world, held.run_id) == "claimed"
    await until(lambda: world.rows(RUNS, status="queued") != [])
    assert [row["status"] for row in world.rows(RUNTIMES)] == ["gone"]
    outcomes = [row["outcome"] for row in world.rows(AUDIT, kind="runtime")]
    assert outcomes == ["registered", "claimed", "gone", "lost"] or outcomes == [
        "registered",
        "claimed",
        "lost",
        "gone",
    ]


async def test_lane_of_a_claimed_run_is_kept_across_a_restart() -> None:
    world = await workshop()
    held = await hold(world)
    conversation = held.claimed["run"]["conversation_id"]
    later = await create(world, "later", event={"conversation_id": conversation})
    world = await restart(world)
    held = after_restart(held, world)
    await settle()
    assert await status(world, later["run_id"]) == "created"
    await held.say("first")
    await held.complete()
    run = await world.plugins.next_run()
    assert run.run_id == later["run_id"]
    run.answer("second")
    await world.rest()
    assert outgoing(world) == ["first", "second"]


async def test_stop_of_the_host_keeps_claimed_runs() -> None:
    world = await workshop()
    held = await hold(world)
    world.core.gateway.stop_accepting()
    world.core.lanes.close()
    await world.core.lanes.join()
    assert await status(world, held.run_id) == "claimed"
    world = await restart(world)
    held = after_restart(held, world)
    await settle()
    await held.say("still here")
    await held.complete()
    await world.rest()
    assert outgoing(world) == ["still here"]


async def test_result_that_could_not_be_stored_is_accepted_on_repetition() -> None:
    world = await workshop()
    held = await hold(world)
    await held.delta("so ")
    await asyncio.sleep(1)
    world.journal.broken["run.progress"] = 1
    with pytest.raises(Exception, match="disk is full"):
        await held.say("so far", sequence=2)
    await held.say("so far", sequence=2)
    world.journal.broken["run.end"] = 1
    with pytest.raises(Exception, match="disk is full"):
        await held.complete(sequence=3)
    await held.complete(sequence=3)
    await world.rest()
    assert outgoing(world) == ["so far"]
    assert await status(world, held.run_id) == "completed"
