"""Queued and claimed runs outlive the Host that took them in: queued ones stay queued, leases hold, lanes wait."""

import asyncio

import pytest

from parlour.core.encoding import loads
from parlour.core.journal import Row, Select, StorageFailed
from parlour.core.store.tables import AUDIT, OUTBOX, QUEUE, RUNS, RUNTIMES, TRANSCRIPT

from ...support import BreakableJournal, World, settle, until
from .workshop import FORGE, Held, ask, claim, create, granted, heartbeats, hold, queued, status, workshop


async def again(world: World) -> World:
    """The next life of the Host, with the same grants."""
    return await world.restart(plugin_grants=granted)


def outgoing(world: World) -> list[str]:
    return [loads(row["payload"])["message"]["content"] for row in world.rows(OUTBOX)]


def moved(held: Held, world: World) -> Held:
    return Held(world, held.plugin, held.run_id, held.lease, held.claimed, held.sent)


async def test_a_created_run_begins_after_a_restart_with_its_own_id_and_grant() -> None:
    world = await workshop()
    first = await create(world, "first")
    run = await world.plugins.next_run()
    later = await create(world, "second", event={"conversation_id": first["conversation_id"]})
    snapshot = world.rows(RUNS, run_id=later["run_id"])[0]["snapshot"]
    assert later["status"] == "created"
    assert run.run_id == first["run_id"]
    world = await again(world)
    retried = await world.plugins.next_run()
    assert retried.context["runtime"]["attempt"] == 2
    retried.answer("one")
    begun = await world.plugins.next_run()
    assert begun.run_id == later["run_id"]
    assert world.rows(RUNS, run_id=later["run_id"])[0]["snapshot"] == snapshot
    begun.answer("two")
    await world.rest()
    assert outgoing(world) == ["one", "two"]


async def test_a_queued_run_stays_queued() -> None:
    world = await workshop()
    run_id = await queued(world)
    await until(lambda: world.rows(RUNS, status="queued") != [])
    world = await again(world)
    await ask(world, FORGE, "runtime_register", runtime_id="anvil")
    held = await claim(world, wait=10)
    assert held is not None
    assert held.run_id == run_id
    assert held.claimed["run"]["attempt"] == 1
    await held.say("done")
    await held.complete()
    await world.rest()
    assert [row["content"] for row in world.rows(TRANSCRIPT)] == ["work", "done"]


async def test_a_queued_run_that_can_not_be_read_at_first_is_taken_up_when_it_can() -> None:
    class Failing(BreakableJournal):
        failures = 1

        async def read(self, query: Select) -> list[Row]:
            if query.table is QUEUE and query.point_read and Failing.failures:
                Failing.failures -= 1
                raise StorageFailed("storage_full", "the disk is full")
            return await super().read(query)

    world = await workshop(journal=Failing())
    run_id = await queued(world)
    await until(lambda: world.rows(RUNS, status="queued") != [])
    world = await again(world)
    await ask(world, FORGE, "runtime_register", runtime_id="anvil")
    held = await claim(world, wait=10)
    assert Failing.failures == 0
    assert held is not None
    assert held.run_id == run_id


async def test_a_lease_outlives_the_host() -> None:
    world = await workshop()
    held = await hold(world)
    await held.delta("before ")
    await asyncio.sleep(1)
    world = await again(world)
    held = moved(held, world)
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


async def test_what_was_taken_before_a_restart_is_known_after_it() -> None:
    world = await workshop()
    held = await hold(world)
    await held.say("one")
    world = await again(world)
    held = moved(held, world)
    await settle()
    await held.say("one", sequence=1)
    with pytest.raises(Exception, match="other content"):
        await held.say("two", sequence=1)
    await held.complete()
    await world.rest()
    assert outgoing(world) == ["one"]


async def test_a_lease_that_nobody_renews_after_a_restart_is_lost() -> None:
    world = await workshop()
    held = await hold(world)
    world = await again(world)
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


async def test_the_lane_of_a_claimed_run_is_held_across_a_restart() -> None:
    world = await workshop()
    held = await hold(world)
    conversation = held.claimed["run"]["conversation_id"]
    later = await create(world, "later", event={"conversation_id": conversation})
    world = await again(world)
    held = moved(held, world)
    await settle()
    assert await status(world, later["run_id"]) == "created"
    await held.say("first")
    await held.complete()
    run = await world.plugins.next_run()
    assert run.run_id == later["run_id"]
    run.answer("second")
    await world.rest()
    assert outgoing(world) == ["first", "second"]


async def test_a_stop_of_the_host_leaves_parked_runs_alone() -> None:
    world = await workshop()
    held = await hold(world)
    world.core.gateway.stop_accepting()
    world.core.lanes.close()
    await world.core.lanes.join()
    assert await status(world, held.run_id) == "claimed"
    world = await again(world)
    held = moved(held, world)
    await settle()
    await held.say("still here")
    await held.complete()
    await world.rest()
    assert outgoing(world) == ["still here"]


async def test_a_result_that_could_not_be_stored_is_taken_when_it_comes_again() -> None:
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
