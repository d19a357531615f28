"""Runs that requested an approval: waiting for it, retried or not, and informed of the decision."""

import asyncio

import pytest

from parlour.core.errors import CallRejected
from parlour.core.store.tables import INBOX, RUNS

from .approval_support import ASK, BOSS, EVE, KICK, Group, request_kick


async def test_waiting_run_receives_the_result_of_an_approved_action() -> None:
    group = await Group.open({"*": ASK})
    run = await group.run()
    waiting = asyncio.create_task(group.ask(run, *KICK, wait=60))
    await group.calm()
    assert not waiting.done()
    await group.say(f"approve {group.keyword}", BOSS)
    outcome = await waiting
    assert outcome["status"] == "done"
    run.answer("done it")
    await group.world.rest()


async def test_waiting_run_receives_a_denial() -> None:
    group = await Group.open({"*": ASK})
    run = await group.run()
    waiting = asyncio.create_task(group.ask(run, *KICK, wait=60))
    await group.calm()
    await group.say(f"deny {group.keyword}", BOSS)
    assert (await waiting)["status"] == "denied"


async def test_wait_that_times_out_returns_approval_pending() -> None:
    group = await Group.open({"*": ASK})
    run = await group.run()
    with pytest.raises(CallRejected) as refused:
        await group.ask(run, *KICK, wait=60)
    assert refused.value.code == "approval_pending"
    assert refused.value.details == {"approval_id": group.approval()["approval_id"]}


async def test_waiting_run_keeps_its_lane_and_frees_its_slot() -> None:
    group = await Group.open({"*": ASK})
    group.world.core.lanes._slots._free_slots = 1
    run = await group.run()
    waiting = asyncio.create_task(group.ask(run, *KICK, wait=600))
    await group.calm()
    await group.say("another chat", EVE, chat_id="8")
    other = await group.world.plugins.next_run()
    await group.say("same chat", EVE)
    other.answer("served")
    await group.calm()
    assert group.texts("8") == ["served"]
    assert len(group.world.plugins.runs) == 2
    await group.say(f"deny {group.keyword}", BOSS)
    assert (await waiting)["status"] == "denied"
    run.answer("well")
    (await group.world.plugins.next_run()).answer("next")
    await group.world.rest()
    assert group.world.core.lanes._slots._free_slots == 1


async def test_agent_receives_the_decision_as_event() -> None:
    group, run = await request_kick(event_types=("message.received", "approval.decided"))
    run.answer("asked")
    await group.say(f"approve {group.keyword}", BOSS)
    reaction = await group.world.plugins.next_run()
    event = reaction.context["event"]
    assert event["event_type"] == "approval.decided"
    assert (event["data"]["decision"], event["data"]["decided_by"]) == ("approve", "user:boss")
    assert reaction.context["actor"]["actor_id"] == "boss"
    assert reaction.context["subject"]["subject_type"] == "approval"
    assert not reaction.context["input"].get("text")
    reaction.answer("Thank you.")
    await group.world.rest()
    assert group.texts()[-1] == "Thank you."


async def test_agent_without_that_event_type_starts_no_run() -> None:
    group, run = await request_kick()
    run.answer("asked")
    await group.say(f"approve {group.keyword}", BOSS)
    await group.world.rest()
    assert len(group.events("approval.decided")) == 1
    assert len(group.world.plugins.runs) == 1
    assert group.rows(INBOX) == []


async def test_run_with_a_pending_request_is_not_retried() -> None:
    group, run = await request_kick()
    run.crash()
    await group.world.rest()
    assert len(group.world.plugins.runs) == 1
    assert group.rows(RUNS)[0]["effects"] == 1
    await group.say(f"approve {group.keyword}", BOSS)
    await group.world.rest()
    assert len(group.done("kick_member")) == 1
