"""Queued runs: claimed once by a suitable worker, cancelled, or timed out."""

import asyncio

import pytest

from parlour.core.errors import CallRejected
from parlour.core.journal import PreparedCallback, Receipt, Unit
from parlour.core.runs.session import RunTermination
from parlour.core.store.tables import INBOX, OUTCOMES, QUEUE, RUNS, TRANSCRIPT

from ..support import BreakableJournal, make_agent, settle, until
from .worker_support import (
    BOARD,
    FORGE,
    OTHER,
    ask,
    claim,
    create,
    hold,
    outgoing,
    queue_run,
    refusal,
    register,
    status,
    workshop,
)


async def test_queued_run_waits_for_a_worker_and_is_executed_by_it() -> None:
    world = await workshop()
    run_id = await queue_run(world, "please")
    await until(lambda: world.rows(RUNS, status="queued") != [])
    assert world.plugins.runs == []
    await register(world)
    held = await claim(world)
    assert held is not None
    assert held.run_id == run_id
    assert held.claimed["run"]["status"] == "claimed"
    assert held.claimed["run"]["claimed_by"] == "anvil"
    assert held.claimed["context"]["input"]["text"] == "please"
    assert held.claimed["lease_until"] - world.clock.now() == 30_000
    await held.say("done")
    assert await status(world, run_id) == "running"
    await held.complete()
    await world.rest()
    assert await status(world, run_id) == "completed"
    assert [row["content"] for row in world.rows(TRANSCRIPT)] == ["please", "done"]
    assert outgoing(world) == ["done"]
    assert world.rows(INBOX) == []
    assert world.rows(QUEUE) == []
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["answered"]


async def test_waiting_claim_returns_as_soon_as_a_run_is_queued() -> None:
    world = await workshop()
    await register(world)
    waiting = asyncio.create_task(claim(world, wait=20))
    await asyncio.sleep(5)
    started_at = asyncio.get_running_loop().time()
    run_id = await queue_run(world)
    held = await waiting
    assert held is not None
    assert held.run_id == run_id
    assert asyncio.get_running_loop().time() == started_at


async def test_claim_waits_no_longer_than_requested() -> None:
    world = await workshop()
    await register(world)
    started_at = asyncio.get_running_loop().time()
    assert await claim(world, wait=12) is None
    assert asyncio.get_running_loop().time() - started_at == pytest.approx(12)


async def test_each_run_is_claimed_by_one_of_many_workers() -> None:
    world = await workshop()
    names = [f"anvil{number}" for number in range(20)]
    for name in names:
        await register(world, name)
    claimers = [asyncio.create_task(claim(world, name, wait=20)) for name in names]
    await settle()
    runs = {await queue_run(world) for _ in range(7)}
    claims = [held for held in await asyncio.gather(*claimers) if held is not None]
    assert {held.run_id for held in claims} == runs
    assert len(claims) == 7


async def test_worker_claims_only_runs_with_its_labels() -> None:
    world = await workshop()
    await register(world, labels=["gpu", "linux"])
    await register(world, "plain")
    await queue_run(world, labels=["gpu"])
    assert await claim(world, "plain") is None
    assert await claim(world, labels=["linux"]) is None
    assert await claim(world, labels=["gpu", "macos"]) is not None


async def test_worker_claims_only_its_runners() -> None:
    world = await workshop()
    await register(world, runners=["plugin:acme/other/default"])
    await queue_run(world)
    assert await claim(world) is None
    refused = await refusal(world, FORGE, "run_claim", runtime_id="anvil", runners=["plugin:acme/puppet/default"])
    assert refused.code == "invalid_argument"


async def test_worker_holds_at_most_as_many_runs_as_slots() -> None:
    world = await workshop()
    await register(world, slots=1)
    await queue_run(world, "first")
    await queue_run(world, "second")
    held = await claim(world)
    assert held is not None
    assert (await refusal(world, FORGE, "run_claim", runtime_id="anvil")).code == "rate_limited"
    await held.say("one")
    await held.complete()
    assert await claim(world) is not None


async def test_cancelled_queued_run_is_never_claimed() -> None:
    world = await workshop()
    await register(world)
    run_id = await queue_run(world)
    await until(lambda: world.rows(RUNS, status="queued") != [])
    assert (await ask(world, BOARD, "run_cancel", target_run_id=run_id))["status"] == "cancelled"
    assert await claim(world) is None
    assert world.rows(QUEUE) == []


async def test_unclaimed_run_times_out() -> None:
    world = await workshop(make_agent(timeout_seconds=60))
    run_id = await queue_run(world)
    await world.rest()
    assert await status(world, run_id) == "timeout"
    row = world.rows(RUNS)[0]
    assert row["finished_at"] - row["created_at"] == 60_000


async def test_remote_run_keeps_its_lane_and_uses_no_slot() -> None:
    world = await workshop(concurrent_runs=1)
    held = await hold(world, "first")
    conversation = held.claimed["run"]["conversation_id"]
    later = await create(world, "second", event={"conversation_id": conversation})
    await world.say("elsewhere")
    other = await world.plugins.next_run()
    assert other.context["input"]["text"] == "elsewhere"
    other.answer("here")
    await settle()
    assert await status(world, later["run_id"]) == "created"
    await held.say("done")
    await held.complete()
    run = await world.plugins.next_run()
    assert run.run_id == later["run_id"]
    run.answer("second done")
    await world.rest()


async def test_worker_is_woken_for_queued_runs() -> None:
    world = await workshop()
    await register(world)
    queue_lengths: list[int] = []

    async def listen() -> None:
        request = {"call_id": "call:1", "runtime_id": "anvil"}
        async for wakeup in world.core.gate.stream(FORGE, "runtime_wakeups", request):
            queue_lengths.append(wakeup["queued"])

    listening = asyncio.create_task(listen())
    await settle()
    assert queue_lengths == []
    await queue_run(world, "one", event={"conversation_id": None})
    await until(lambda: queue_lengths == [1])
    await queue_run(world, "two")
    await until(lambda: queue_lengths == [1, 2])
    held = await claim(world)
    assert held is not None
    await ask(world, FORGE, "run_release", target_run_id=held.run_id, lease=held.lease)
    await until(lambda: queue_lengths == [1, 2, 2])
    await ask(world, FORGE, "runtime_deregister", runtime_id="anvil")
    await asyncio.wait_for(listening, 10)


async def test_wakeups_of_another_plugins_worker_are_refused() -> None:
    world = await workshop()
    await register(world)
    with pytest.raises(CallRejected, match="no runtime"):
        async for _ in world.core.gate.stream(OTHER, "runtime_wakeups", {"call_id": "c:1", "runtime_id": "anvil"}):
            pass


async def test_run_cancelled_while_being_queued_ends() -> None:
    class Cancelling(BreakableJournal):
        async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
            receipt = await super().commit(unit, on_prepared)
            if unit.name == "run.queue":
                for session in world.core.sessions.all():
                    session.stop(RunTermination("cancelled", "cancelled", "a person cancelled it"))
            return receipt

    world = await workshop(journal=Cancelling())
    run_id = await queue_run(world)
    await world.rest()
    assert await status(world, run_id) == "cancelled"
    assert world.rows(INBOX) == world.rows(QUEUE) == []


async def test_failed_queueing_of_a_retry_leaves_one_session() -> None:
    world = await workshop()
    held = await hold(world)
    await held.delta("hm")
    world.journal.broken["run.queue"] = 1
    await until(lambda: world.rows(RUNS, status="queued") != [])
    assert world.journal.broken["run.queue"] == 0
    await settle()
    assert [session.run_id for session in world.core.sessions.all()] == [world.rows(QUEUE)[0]["run_id"]]


async def test_cancelling_a_run_that_cannot_be_queued_returns() -> None:
    class Cancelling(BreakableJournal):
        cancelled: asyncio.Task[bool] | None = None

        async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
            if unit.name == "run.queue" and self.cancelled is None:
                self.broken["run.queue"] = 1
                run_id = world.core.sessions.all()[0].run_id
                ending = RunTermination("cancelled", "cancelled", "a person cancelled it")
                self.cancelled = asyncio.create_task(world.core.control.cancel(run_id, ending))
                await settle()
            return await super().commit(unit, on_prepared)

    journal = Cancelling()
    world = await workshop(journal=journal)
    run_id = await queue_run(world)
    await until(lambda: journal.cancelled is not None and journal.cancelled.done())
    assert journal.cancelled is not None
    assert journal.cancelled.exception() is None
    assert [row["run_id"] for row in world.rows(INBOX)] == [run_id], "the event is still queued"
