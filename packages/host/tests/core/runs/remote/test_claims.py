"""Queued runs: claimed once, fed by their holder, given back or cut off when the holder is lost."""

import asyncio

import pytest

from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.journal import Receipt, Unit
from parlour.core.model.agent import Agent
from parlour.core.runs.session import RunTermination
from parlour.core.store.tables import AUDIT, INBOX, OUTBOX, OUTCOMES, QUEUE, RUNS, STATE, TRANSCRIPT

from ...support import BreakableJournal, World, make_agent, settle, until
from .workshop import (
    BOARD,
    FORGE,
    OTHER,
    Held,
    ask,
    claim,
    create,
    heartbeats,
    hold,
    queued,
    refusal,
    register,
    status,
    workshop,
)


def outgoing(world: World) -> list[str]:
    return [loads(row["payload"])["message"]["content"] for row in world.rows(OUTBOX)]


async def test_a_queued_run_waits_for_a_runtime_and_is_executed_by_it() -> None:
    world = await workshop()
    run_id = await queued(world, "please")
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


async def test_results_that_are_handed_in_have_the_effects_of_an_online_run() -> None:
    world = await workshop()
    held = await hold(world)
    await held.delta("half ")
    await held.delta("a word")
    await held.send("state.updated", {"scope": "conversation", "key": "k", "value": 1})
    await held.say("half a word")
    await held.send("run.completed", {"finish_reason": "stop", "usage": {"prompt_tokens": 7, "completion_tokens": 1}})
    await world.rest()
    kinds = [kind for kind, _ in world.facts(held.run_id)]
    assert kinds == ["message.delta", "state.updated", "message.completed", "run.completed"]
    assert world.facts(held.run_id)[0][1]["chunk"]["content"] == "half a word"
    assert [row["value"] for row in world.rows(STATE)] == ["1"]
    assert loads(world.rows(RUNS)[0]["usage"])["prompt_tokens"] == 7


async def test_a_claimer_that_waits_is_woken_by_the_run() -> None:
    world = await workshop()
    await register(world)
    waiting = asyncio.create_task(claim(world, wait=20))
    await asyncio.sleep(5)
    began = asyncio.get_running_loop().time()
    run_id = await queued(world)
    held = await waiting
    assert held is not None
    assert held.run_id == run_id
    assert asyncio.get_running_loop().time() == began


async def test_nobody_waits_longer_than_they_said() -> None:
    world = await workshop()
    await register(world)
    began = asyncio.get_running_loop().time()
    assert await claim(world, wait=12) is None
    assert asyncio.get_running_loop().time() - began == pytest.approx(12)


async def test_of_many_claimers_each_run_has_one() -> None:
    world = await workshop()
    names = [f"anvil{number}" for number in range(20)]
    for name in names:
        await register(world, name)
    claimers = [asyncio.create_task(claim(world, name, wait=20)) for name in names]
    await settle()
    runs = {await queued(world) for _ in range(7)}
    claims = [held for held in await asyncio.gather(*claimers) if held is not None]
    assert {held.run_id for held in claims} == runs
    assert len(claims) == 7


async def test_a_runtime_takes_only_what_it_is_labelled_for() -> None:
    world = await workshop()
    await register(world, labels=["gpu", "linux"])
    await register(world, "plain")
    await queued(world, labels=["gpu"])
    assert await claim(world, "plain") is None
    assert await claim(world, labels=["linux"]) is None
    assert await claim(world, labels=["gpu", "macos"]) is not None


async def test_a_runtime_takes_only_runners_that_it_can_execute() -> None:
    world = await workshop()
    await register(world, runners=["plugin:acme/other/default"])
    await queued(world)
    assert await claim(world) is None
    refused = await refusal(world, FORGE, "run_claim", runtime_id="anvil", runners=["plugin:acme/puppet/default"])
    assert refused.code == "invalid_argument"


async def test_a_runtime_has_as_many_runs_as_slots() -> None:
    world = await workshop()
    await register(world, slots=1)
    await queued(world, "first")
    await queued(world, "second")
    held = await claim(world)
    assert held is not None
    assert (await refusal(world, FORGE, "run_claim", runtime_id="anvil")).code == "rate_limited"
    await held.say("one")
    await held.complete()
    assert await claim(world) is not None


async def test_a_lease_that_is_renewed_outlives_its_time() -> None:
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
    async def commit(self, unit: Unit) -> Receipt:
        if unit.name == "run.renew":
            await asyncio.sleep(5)
        return await super().commit(unit)


async def test_a_lease_that_is_being_renewed_when_its_time_is_over_holds() -> None:
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


async def test_a_lease_that_is_lost_before_the_run_began_queues_it_again() -> None:
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


async def test_a_lease_that_is_lost_after_the_run_began_cuts_it_off_and_a_new_run_follows() -> None:
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


async def test_a_run_that_was_seen_is_not_repeated_and_its_sender_is_told() -> None:
    world = await workshop()
    held = await hold(world)
    await held.say("half of it")
    await world.rest()
    assert await status(world, held.run_id) == "failed"
    assert world.rows(QUEUE) == []
    assert len(world.rows(RUNS)) == 1
    assert outgoing(world)[0] == "half of it"
    assert len(outgoing(world)) == 2


async def test_a_run_that_is_given_back_goes_to_the_next() -> None:
    world = await workshop()
    held = await hold(world)
    await held.ask("run_release", reason="no disk left")
    assert await status(world, held.run_id) == "queued"
    again = await claim(world)
    assert again is not None
    assert again.run_id == held.run_id


async def test_a_run_that_has_begun_can_not_be_given_back() -> None:
    world = await workshop()
    held = await hold(world)
    await held.say("begun")
    refused = await held.refused("run_release")
    assert refused.code == "invalid_argument"
    assert await status(world, held.run_id) == "running"


async def test_a_result_that_comes_again_is_taken_once_and_another_in_its_place_is_refused() -> None:
    world = await workshop()
    held = await hold(world)
    await held.delta("one ")
    await held.delta("one ", sequence=1)
    await held.say("one")
    await held.say("one", sequence=2)
    with pytest.raises(Exception, match="other content"):
        await held.say("two", sequence=2)
    with pytest.raises(Exception, match="other content"):
        await held.delta("two", sequence=1)
    await held.complete()
    await held.complete(sequence=3)
    await world.rest()
    with pytest.raises(Exception, match="over"):
        await held.say("after all", sequence=4)
    assert outgoing(world) == ["one"]


async def test_a_result_that_can_not_be_read_is_refused_and_its_number_is_free() -> None:
    world = await workshop()
    held = await hold(world)
    with pytest.raises(Exception, match="message"):
        await held.send("message.completed", {"text": "no"}, sequence=1)
    with pytest.raises(Exception, match="run_id"):
        await ask(
            world,
            FORGE,
            "run_append_result",
            target_run_id=held.run_id,
            lease=held.lease,
            result={"run_id": "another", "type": "message.delta", "data": {}},
        )
    await held.say("yes", sequence=1)
    await held.complete(sequence=2)
    await world.rest()
    assert outgoing(world) == ["yes"]


@pytest.mark.parametrize(
    ("asked", "ended"),
    [
        ({"status": "failed", "error": "no luck"}, ("failed", "runner.error", "no luck")),
        ({"status": "failed", "code": "forge.cold", "error": "cold"}, ("failed", "forge.cold", "cold")),
        ({"status": "cancelled"}, ("cancelled", "cancelled", "")),
        ({"status": "timeout"}, ("timeout", "runner.timeout", "")),
        ({"status": "completed"}, ("failed", "runner.no_output", "the runner ended without an answer")),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_a_holder_ends_its_run(asked: dict[str, str], ended: tuple[str, str, str]) -> None:
    world = await workshop()
    held = await hold(world)
    answer = await held.ask("run_finalize", **asked)
    assert answer["status"] == ended[0]
    await world.rest()
    row = world.rows(RUNS)[0]
    assert (row["status"], row["status_reason"], row["error"]) == ended
    assert (await held.ask("run_finalize", status=ended[0]))["status"] == ended[0]
    assert world.rows(QUEUE) == []


async def test_deltas_that_were_left_over_are_the_message_of_a_run_that_is_completed() -> None:
    world = await workshop()
    held = await hold(world)
    await held.delta("all I ")
    await held.delta("said")
    assert (await held.ask("run_finalize", status="completed"))["status"] == "completed"
    await world.rest()
    assert outgoing(world) == ["all I said"]


async def test_a_cancelled_run_is_over_at_once_and_its_holder_hears_of_it() -> None:
    world = await workshop()
    held = await hold(world)
    await held.say("so far")
    cancelled = await ask(world, BOARD, "run_cancel", target_run_id=held.run_id, reason="not wanted")
    assert (cancelled["status"], cancelled["status_reason"]) == ("cancelled", "cancelled")
    assert (await held.ask("run_renew"))["cancel_requested"] is True
    with pytest.raises(Exception, match="over"):
        await held.say("more")
    await world.rest()
    assert outgoing(world) == ["so far"]


async def test_a_queued_run_can_be_cancelled_and_is_never_claimed() -> None:
    world = await workshop()
    await register(world)
    run_id = await queued(world)
    await until(lambda: world.rows(RUNS, status="queued") != [])
    assert (await ask(world, BOARD, "run_cancel", target_run_id=run_id))["status"] == "cancelled"
    assert await claim(world) is None
    assert world.rows(QUEUE) == []


async def test_a_run_that_nobody_claims_times_out() -> None:
    world = await workshop(make_agent(timeout_seconds=60))
    run_id = await queued(world)
    await world.rest()
    assert await status(world, run_id) == "timeout"
    row = world.rows(RUNS)[0]
    assert row["finished_at"] - row["created_at"] == 60_000


async def test_a_parked_run_holds_its_lane_and_no_slot() -> None:
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


async def test_the_holder_has_the_runs_own_rights_and_others_do_not() -> None:
    world = await workshop()
    held = await hold(world)
    asked = {"run_id": held.run_id, "scope": "conversation", "key": "k", "value": "v"}
    assert (await refusal(world, OTHER, "state_set", **asked)).code == "unauthorized"
    assert (await refusal(world, "acme/puppet", "state_set", **asked)).code == "unauthorized"
    assert await status(world, held.run_id) == "claimed"
    for wrong in ({}, {"lease": "an older one"}):
        assert (await refusal(world, FORGE, "state_set", **asked, **wrong)).code == "unauthorized"
    assert await status(world, held.run_id) == "claimed"
    await ask(world, FORGE, "state_set", lease=held.lease, **asked)
    assert await status(world, held.run_id) == "running"
    assert [row["value"] for row in world.rows(STATE)] == ['"v"']
    await held.say("done")
    await held.complete()
    await world.rest()
    assert (await refusal(world, FORGE, "state_set", lease=held.lease, **asked)).code == "unauthorized"


async def test_a_process_whose_lease_was_lost_can_not_call_for_the_run_that_another_holds() -> None:
    world = await workshop()
    lost = await hold(world)
    await ask(world, FORGE, "run_release", target_run_id=lost.run_id, lease=lost.lease)
    held = await claim(world)
    assert held is not None
    asked = {"run_id": held.run_id, "scope": "conversation", "key": "k", "value": "v"}
    assert (await refusal(world, FORGE, "state_set", lease=lost.lease, **asked)).code == "unauthorized"
    await ask(world, FORGE, "state_set", lease=held.lease, **asked)
    await held.say("done")
    await held.complete()
    await world.rest()


async def test_a_worker_that_listens_is_told_of_runs_and_nobody_polls() -> None:
    world = await workshop()
    await register(world)
    heard: list[int] = []

    async def listen() -> None:
        request = {"call_id": "call:1", "runtime_id": "anvil"}
        async for wakeup in world.core.gate.stream(FORGE, "runtime_wakeups", request):
            heard.append(wakeup["queued"])

    listening = asyncio.create_task(listen())
    await settle()
    assert heard == []
    await queued(world, "one", event={"conversation_id": None})
    await until(lambda: heard == [1])
    await queued(world, "two")
    await until(lambda: heard == [1, 2])
    held = await claim(world)
    assert held is not None
    await ask(world, FORGE, "run_release", target_run_id=held.run_id, lease=held.lease)
    await until(lambda: heard == [1, 2, 2])
    await ask(world, FORGE, "runtime_deregister", runtime_id="anvil")
    await asyncio.wait_for(listening, 10)


async def test_nobody_listens_for_the_runtime_of_another_plugin() -> None:
    world = await workshop()
    await register(world)
    with pytest.raises(CallRejected, match="no runtime"):
        async for _ in world.core.gate.stream(OTHER, "runtime_wakeups", {"call_id": "c:1", "runtime_id": "anvil"}):
            pass


async def test_a_run_in_the_queue_has_no_rights_at_all() -> None:
    world = await workshop()
    run_id = await queued(world)
    await until(lambda: world.rows(RUNS, status="queued") != [])
    for plugin in (FORGE, "acme/puppet"):
        refused = await refusal(world, plugin, "state_get", run_id=run_id, scope="conversation", key="k")
        assert refused.code == "unauthorized"


async def test_nobody_else_feeds_or_ends_a_claimed_run() -> None:
    world = await workshop()
    held = await hold(world)
    result = {"run_id": held.run_id, "type": "run.completed", "data": {"finish_reason": "stop"}, "sequence": 1}
    asked = {"target_run_id": held.run_id, "result": result}
    assert (await refusal(world, BOARD, "run_append_result", **asked, lease=held.lease)).code == "not_found"
    assert (await refusal(world, OTHER, "run_append_result", **asked, lease="guess")).code == "unauthorized"
    assert (await refusal(world, "acme/puppet", "run_append_result", **asked)).code == "unauthorized"
    assert (await refusal(world, FORGE, "run_append_result", **asked)).code == "unauthorized"
    assert (await refusal(world, OTHER, "run_renew", target_run_id=held.run_id, lease="x")).code == "unauthorized"
    ending = {"target_run_id": held.run_id, "status": "failed", "lease": "guess"}
    assert (await refusal(world, OTHER, "run_finalize", **ending)).code == "unauthorized"
    assert await status(world, held.run_id) == "claimed"


async def test_a_foreign_runtimes_token_does_not_pass_another_plugin() -> None:
    world = await workshop()
    held = await hold(world)
    stolen = Held(world, OTHER, held.run_id, held.lease, held.claimed)
    with pytest.raises(Exception, match="another plugin"):
        await stolen.say("mine")
    assert await status(world, held.run_id) == "claimed"


@pytest.mark.parametrize("agent", [make_agent(), make_agent(restart_policy="never")], ids=["auto", "never"])
async def test_a_runtime_that_goes_loses_what_it_holds(agent: Agent) -> None:
    world = await workshop(agent)
    begun = await hold(world, "begun")
    await begun.delta("x")
    fresh = await hold(world, "fresh")
    await ask(world, FORGE, "runtime_deregister", runtime_id="anvil")
    await settle()
    assert await status(world, begun.run_id) == "failed"
    assert await status(world, fresh.run_id) == "queued"
    assert (await refusal(world, FORGE, "run_claim", runtime_id="anvil")).code == "not_found"
    waits = [row["status"] for row in world.rows(RUNS) if row["run_id"] not in (begun.run_id, fresh.run_id)]
    assert waits == (["queued"] if agent.restart_policy == "auto" else [])


async def test_a_run_that_is_cancelled_while_it_is_being_queued_is_over() -> None:
    class Cancelling(BreakableJournal):
        async def commit(self, unit: Unit) -> Receipt:
            receipt = await super().commit(unit)
            if unit.name == "run.queue":
                for session in world.core.sessions.all():
                    session.stop(RunTermination("cancelled", "cancelled", "a person cancelled it"))
            return receipt

    world = await workshop(journal=Cancelling())
    run_id = await queued(world)
    await world.rest()
    assert await status(world, run_id) == "cancelled"
    assert world.rows(INBOX) == world.rows(QUEUE) == []


async def test_a_new_run_that_can_not_be_queued_at_first_leaves_nothing_behind() -> None:
    world = await workshop()
    held = await hold(world)
    await held.delta("hm")
    world.journal.broken["run.queue"] = 1
    await until(lambda: world.rows(RUNS, status="queued") != [])
    assert world.journal.broken["run.queue"] == 0
    await settle()
    assert [session.run_id for session in world.core.sessions.all()] == [world.rows(QUEUE)[0]["run_id"]]


async def test_whoever_cancels_a_run_that_can_not_be_queued_does_not_wait_for_ever() -> None:
    class Cancelling(BreakableJournal):
        cancelled: asyncio.Task[bool] | None = None

        async def commit(self, unit: Unit) -> Receipt:
            if unit.name == "run.queue" and self.cancelled is None:
                self.broken["run.queue"] = 1
                run_id = world.core.sessions.all()[0].run_id
                ending = RunTermination("cancelled", "cancelled", "a person cancelled it")
                self.cancelled = asyncio.create_task(world.core.control.cancel(run_id, ending))
                await settle()
            return await super().commit(unit)

    journal = Cancelling()
    world = await workshop(journal=journal)
    await queued(world)
    await until(lambda: journal.cancelled is not None and journal.cancelled.done())
