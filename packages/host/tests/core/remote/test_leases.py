"""Leases of claimed runs: renewed, lost, released, and required for every call of the holder."""

import asyncio

import pytest

from parlour.core.journal import PreparedCallback, Receipt, Unit
from parlour.core.model.agent import Agent
from parlour.core.store.tables import AUDIT, QUEUE, RUNS, STATE

from ..support import BreakableJournal, make_agent, settle, until
from .worker_support import (
    BOARD,
    FORGE,
    OTHER,
    Held,
    ask,
    claim,
    heartbeats,
    hold,
    outgoing,
    queue_run,
    refusal,
    register,
    status,
    workshop,
)


async def test_renewed_lease_stays_valid() -> None:
    world = await workshop()
    held = await hold(world)
    beats = asyncio.create_task(heartbeats(world))
    for _ in range(10):
        await asyncio.sleep(10)
        assert await held.ask("run_renew") == {"lease_until": world.clock.now() + 30_000, "cancel_requested": False}
    await held.say("late")
    await held.complete()
    beats.cancel()
    await world.rest()
    assert await status(world, held.run_id) == "completed"


class SlowRenewals(BreakableJournal):
    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        if unit.name == "run.renew":
            await asyncio.sleep(5)
        return await super().commit(unit, on_prepared)


async def test_lease_stays_valid_during_its_renewal() -> None:
    world = await workshop(journal=SlowRenewals())
    held = await hold(world)
    beats = asyncio.create_task(heartbeats(world))
    await asyncio.sleep(28)
    await held.ask("run_renew")
    await asyncio.sleep(1)
    beats.cancel()
    assert await status(world, held.run_id) == "claimed"
    await held.say("done")
    await held.complete()
    await world.rest()


async def test_lease_lost_before_the_first_result_requeues_the_run() -> None:
    world = await workshop()
    held = await hold(world)
    beats = asyncio.create_task(heartbeats(world))
    waiting = asyncio.create_task(claim(world, wait=60))
    again = await waiting
    beats.cancel()
    assert again is not None
    assert again.run_id == held.run_id
    assert again.lease != held.lease
    assert again.claimed["run"]["attempt"] == 1
    with pytest.raises(Exception, match="lease"):
        await held.say("too late")
    assert (await held.refused("run_renew")).code == "unauthorized"
    assert (await held.refused("run_release")).code == "unauthorized"
    assert (await held.refused("run_finalize", status="failed")).code == "unauthorized"
    assert [row["outcome"] for row in world.rows(AUDIT, kind="runtime", run_id=held.run_id)] == [
        "claimed",
        "lost",
        "claimed",
    ]
    await again.say("in time")
    await again.complete()
    await world.rest()
    assert outgoing(world) == ["in time"]


async def test_lease_lost_after_a_result_interrupts_the_run_and_queues_a_retry() -> None:
    world = await workshop()
    held = await hold(world)
    await held.delta("hm")
    await until(lambda: world.rows(RUNS, status="queued") != [])
    runs = world.rows(RUNS)
    assert [(row["status"], row["status_reason"]) for row in runs] == [("failed", "interrupted"), ("queued", "")]
    assert runs[1]["parent_run_id"] == held.run_id
    assert runs[1]["attempt"] == 2
    assert runs[1]["snapshot"] == runs[0]["snapshot"]
    await register(world)
    again = await claim(world)
    assert again is not None
    await again.say("at last")
    await again.complete()
    await world.rest()
    assert outgoing(world) == ["at last"]


async def test_run_with_shown_output_is_not_repeated_and_its_sender_notified() -> None:
    world = await workshop()
    held = await hold(world)
    await held.say("half of it")
    await world.rest()
    assert await status(world, held.run_id) == "failed"
    assert world.rows(QUEUE) == []
    assert len(world.rows(RUNS)) == 1
    assert outgoing(world)[0] == "half of it"
    assert len(outgoing(world)) == 2


async def test_released_run_is_claimed_again() -> None:
    world = await workshop()
    held = await hold(world)
    await held.ask("run_release", reason="no disk left")
    assert await status(world, held.run_id) == "queued"
    again = await claim(world)
    assert again is not None
    assert again.run_id == held.run_id


async def test_started_run_cannot_be_released() -> None:
    world = await workshop()
    held = await hold(world)
    await held.say("started")
    refused = await held.refused("run_release")
    assert refused.code == "invalid_argument"
    assert await status(world, held.run_id) == "running"


async def test_only_the_holder_has_the_grant_of_the_run() -> None:
    world = await workshop()
    held = await hold(world)
    arguments = {"run_id": held.run_id, "scope": "conversation", "key": "k", "value": "v"}
    assert (await refusal(world, OTHER, "state_set", **arguments)).code == "unauthorized"
    assert (await refusal(world, "acme/puppet", "state_set", **arguments)).code == "unauthorized"
    assert await status(world, held.run_id) == "claimed"
    for wrong in ({}, {"lease": "an older one"}):
        assert (await refusal(world, FORGE, "state_set", **arguments, **wrong)).code == "unauthorized"
    assert await status(world, held.run_id) == "claimed"
    await ask(world, FORGE, "state_set", lease=held.lease, **arguments)
    assert await status(world, held.run_id) == "running"
    assert [row["value"] for row in world.rows(STATE)] == ['"v"']
    await held.say("done")
    await held.complete()
    await world.rest()
    assert (await refusal(world, FORGE, "state_set", lease=held.lease, **arguments)).code == "unauthorized"


async def test_outdated_lease_cannot_be_used_after_another_claim() -> None:
    world = await workshop()
    lost = await hold(world)
    await ask(world, FORGE, "run_release", target_run_id=lost.run_id, lease=lost.lease)
    held = await claim(world)
    assert held is not None
    arguments = {"run_id": held.run_id, "scope": "conversation", "key": "k", "value": "v"}
    assert (await refusal(world, FORGE, "state_set", lease=lost.lease, **arguments)).code == "unauthorized"
    await ask(world, FORGE, "state_set", lease=held.lease, **arguments)
    await held.say("done")
    await held.complete()
    await world.rest()


async def test_queued_run_has_no_grant() -> None:
    world = await workshop()
    run_id = await queue_run(world)
    await until(lambda: world.rows(RUNS, status="queued") != [])
    for plugin in (FORGE, "acme/puppet"):
        refused = await refusal(world, plugin, "state_get", run_id=run_id, scope="conversation", key="k")
        assert refused.code == "unauthorized"


async def test_only_the_holder_appends_results_and_finalizes() -> None:
    world = await workshop()
    held = await hold(world)
    result = {"run_id": held.run_id, "type": "run.completed", "data": {"finish_reason": "stop"}, "sequence": 1}
    arguments = {"target_run_id": held.run_id, "result": result}
    assert (await refusal(world, BOARD, "run_append_result", **arguments, lease=held.lease)).code == "not_found"
    assert (await refusal(world, OTHER, "run_append_result", **arguments, lease="guess")).code == "unauthorized"
    assert (await refusal(world, "acme/puppet", "run_append_result", **arguments)).code == "unauthorized"
    assert (await refusal(world, FORGE, "run_append_result", **arguments)).code == "unauthorized"
    assert (await refusal(world, OTHER, "run_renew", target_run_id=held.run_id, lease="x")).code == "unauthorized"
    ending = {"target_run_id": held.run_id, "status": "failed", "lease": "guess"}
    assert (await refusal(world, OTHER, "run_finalize", **ending)).code == "unauthorized"
    assert await status(world, held.run_id) == "claimed"


async def test_lease_of_another_plugin_is_refused() -> None:
    world = await workshop()
    held = await hold(world)
    stolen = Held(world, OTHER, held.run_id, held.lease, held.claimed)
    with pytest.raises(Exception, match="another plugin"):
        await stolen.say("mine")
    assert await status(world, held.run_id) == "claimed"


@pytest.mark.parametrize("agent", [make_agent(), make_agent(restart_policy="never")], ids=["auto", "never"])
async def test_deregistered_worker_loses_its_leases(agent: Agent) -> None:
    world = await workshop(agent)
    started = await hold(world, "started")
    await started.delta("x")
    fresh = await hold(world, "fresh")
    await ask(world, FORGE, "runtime_deregister", runtime_id="anvil")
    await settle()
    assert await status(world, started.run_id) == "failed"
    assert await status(world, fresh.run_id) == "queued"
    assert (await refusal(world, FORGE, "run_claim", runtime_id="anvil")).code == "not_found"
    queued_retries = [row["status"] for row in world.rows(RUNS) if row["run_id"] not in (started.run_id, fresh.run_id)]
    assert queued_retries == (["queued"] if agent.restart_policy == "auto" else [])
