"""Steering: messages that join an active run, and their handling when it ends."""

import logging
from dataclasses import replace

import pytest

from parlour.core.config.routes import Route
from parlour.core.errors import CallRejected
from parlour.core.model.agent import Agent
from parlour.core.model.event import Participant
from parlour.core.runs.session import RunTermination
from parlour.core.store.tables import INBOX, OUTBOX, OUTCOMES, TRANSCRIPT
from parlour_sdk.protocol.limits import STEERING_QUEUE

from ..support import DISCOVERY, PLUGIN, PuppetRun, World, make_agent, message, settle

CANCELLED = RunTermination("cancelled", "cancelled", "a person cancelled the run")


async def active(agent: Agent | None = None, **fields: object) -> tuple[World, PuppetRun]:
    world = await World.open(agent)
    await world.say("first", **fields)
    return world, await world.plugins.next_run()


async def pull_texts(world: World, run: PuppetRun, **arguments: object) -> list[str]:
    answer = await world.call(run, "steering_pull", **arguments)
    return [item["input"]["text"] for item in answer["items"]]


def states(world: World) -> list[str]:
    return [row["state"] for row in world.rows(INBOX)]


async def test_message_of_the_same_user_joins_the_run() -> None:
    world, run = await active()
    await world.say("second")
    await settle()
    assert states(world) == ["running", "claimed"]
    assert await pull_texts(world, run) == ["second"]
    assert states(world) == ["running", "injected"]
    run.answer("both")
    await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["answered", "answered"]
    assert len(world.plugins.runs) == 1


async def test_ledger_records_claimed_and_injected_messages() -> None:
    world, run = await active()
    await world.say("second", event_id="second")
    await settle()
    await pull_texts(world, run)
    queued, injected = world.facts(run.run_id)
    assert queued[0] == "steering.queued"
    assert queued[1]["source_event_id"] == "second"
    assert queued[1]["claimed_by_run_id"] == run.run_id
    assert queued[1].keys() == {"source_event_id", "claimed_by_run_id", "claimed_runner_id", "claimed_at"}
    assert injected == ("steering.injected", {"source_event_id": "second"})
    run.answer("both")
    await world.rest()


async def test_message_of_another_user_waits_for_its_own_run() -> None:
    world, run = await active(surface="platform")
    await world.say("second", surface="platform", actor="bob")
    await settle()
    assert states(world) == ["running", "owed"]
    assert await pull_texts(world, run) == []
    run.answer("for ann")
    (await world.plugins.next_run()).answer("for bob")
    await world.rest()


async def test_actor_of_another_type_with_the_same_id_is_another_actor() -> None:
    world, run = await active(surface="platform")
    await world.core.gateway.ingest(replace(message("second", surface="platform"), actor=Participant("bot", "ann")))
    await settle()
    assert states(world) == ["running", "owed"]
    run.answer("for ann")
    (await world.plugins.next_run()).answer("for the bot")
    await world.rest()


async def test_message_for_another_agent_waits_for_its_own_run() -> None:
    world, run = await active(surface="platform")
    await world.core.agents.add(make_agent("other"))
    await world.core.routes.replace("bot", [Route("*", "agent", {"agent_id": "other"})])
    await world.say("second", surface="platform")
    await settle()
    assert states(world) == ["running", "owed"]
    run.answer("one")
    (await world.plugins.next_run()).answer("two")
    await world.rest()


async def test_runner_without_steering_gets_no_messages() -> None:
    world = await World.open()
    manifest = {**DISCOVERY["manifest"], "capabilities": {"streaming": True}}
    world.core.registry.replace_plugin(PLUGIN, "2", [{**DISCOVERY, "manifest": manifest}])
    await world.say("first")
    run = await world.plugins.next_run()
    await world.say("second")
    await settle()
    assert states(world) == ["running", "owed"]
    run.answer("one")
    (await world.plugins.next_run()).answer("two")
    await world.rest()


async def test_message_waits_if_the_steering_queue_is_full() -> None:
    world, run = await active()
    for number in range(STEERING_QUEUE + 2):
        await world.say(f"more {number}")
    await settle(3000)
    assert states(world).count("claimed") == STEERING_QUEUE
    assert states(world).count("owed") == 2
    assert len(await pull_texts(world, run)) == STEERING_QUEUE
    world.plugins.echo = True
    run.answer("much")
    await world.rest()
    texts = [each.context["input"]["text"] for each in world.plugins.runs]
    assert texts == ["first", f"more {STEERING_QUEUE}", f"more {STEERING_QUEUE + 1}"]


@pytest.mark.parametrize(
    ("arguments", "first"),
    [({"mode": "one-at-a-time"}, ["b"]), ({"limit": 2}, ["b", "c"]), ({}, ["b", "c", "d"])],
    ids=["one at a time", "limit", "all"],
)
async def test_runner_pulls_as_many_messages_as_it_requests(arguments: dict[str, object], first: list[str]) -> None:
    world, run = await active()
    for text in ("b", "c", "d"):
        await world.say(text)
    await settle(200)
    assert await pull_texts(world, run, **arguments) == first
    assert first + await pull_texts(world, run) == ["b", "c", "d"]
    run.answer("all")
    await world.rest()


async def test_unpulled_messages_are_dropped_from_the_run_and_answered_in_order() -> None:
    world, run = await active()
    await world.say("second", event_id="second")
    await world.say("third", event_id="third")
    await settle(200)
    world.plugins.echo = True
    run.answer("only the first")
    await world.rest()
    assert [each.context["input"]["text"] for each in world.plugins.runs] == ["first", "second", "third"]
    dropped = [data for kind, data in world.facts(run.run_id) if kind == "steering.dropped"]
    assert [each["source_event_id"] for each in dropped] == ["second", "third"]
    assert all("completed" in each["reason"] for each in dropped)
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["answered"] * 3


async def test_pulled_messages_of_a_failed_run_are_answered_again() -> None:
    world, run = await active()
    await world.say("second")
    await settle()
    await pull_texts(world, run)
    run.send(run.failed())
    again = await world.plugins.next_run()
    assert again.context["input"]["text"] == "second"
    again.answer("the second")
    await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["failed", "answered"]


async def test_crashed_run_is_retried_before_its_pulled_messages() -> None:
    world, run = await active()
    await world.say("second")
    await settle()
    await pull_texts(world, run)
    run.crash()
    again = await world.plugins.next_run()
    assert again.context["input"]["text"] == "first"
    assert again.context["runtime"]["attempt"] == 2
    world.plugins.echo = True
    again.answer("the first")
    await world.rest()
    assert [each.context["input"]["text"] for each in world.plugins.runs] == ["first", "first", "second"]
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["answered", "answered"]


async def test_cancelling_a_run_cancels_its_pulled_messages_with_a_notice() -> None:
    world, run = await active()
    await world.say("second")
    await settle()
    await pull_texts(world, run)
    session = world.core.sessions.get(run.run_id)
    assert session is not None
    session.stop(CANCELLED)
    await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["cancelled", "cancelled"]
    notices = [row["payload"] for row in world.rows(OUTBOX) if row["kind"] == "notice"]
    assert len(notices) == 1
    assert "together with 1 message it had taken in" in notices[0]
    assert len(world.plugins.runs) == 1


async def test_cancelling_a_run_leaves_unpulled_messages_to_their_own_run() -> None:
    world, run = await active()
    await world.say("second")
    await settle()
    session = world.core.sessions.get(run.run_id)
    assert session is not None
    session.stop(CANCELLED)
    again = await world.plugins.next_run()
    assert again.context["input"]["text"] == "second"
    again.answer("the second")
    await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["cancelled", "answered"]
    assert [row["kind"] for row in world.rows(OUTBOX)] == ["message"]


async def test_steered_message_is_in_the_transcript_once() -> None:
    world, run = await active()
    await world.say("second")
    await settle()
    run.answer("one")
    (await world.plugins.next_run()).answer("two")
    await world.rest()
    users = [row["content"] for row in world.rows(TRANSCRIPT) if row["role"] == "user"]
    assert sorted(users) == ["first", "second"]


async def test_message_waits_if_its_claim_cannot_be_written() -> None:
    world, run = await active()
    world.journal.broken["steering.claim"] = 1
    await world.say("second")
    await settle()
    assert states(world) == ["running", "owed"]
    run.answer("one")
    (await world.plugins.next_run()).answer("two")
    await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["answered", "answered"]


async def test_ended_run_pulls_nothing() -> None:
    world, run = await active()
    await world.say("second")
    await settle()
    session = world.core.sessions.get(run.run_id)
    assert session is not None
    session.stop(CANCELLED)
    with pytest.raises(Exception, match="being ended"):
        await pull_texts(world, run)
    (await world.plugins.next_run()).answer("two")
    await world.rest()


@pytest.mark.parametrize("unit", ["steering.claim", "steering.pull"])
async def test_message_with_uncertain_claim_is_answered(unit: str, caplog: pytest.LogCaptureFixture) -> None:
    world, run = await active(surface="platform")
    world.journal.unsure[unit] = 1
    await world.say("second", surface="platform")
    await settle()
    if unit == "steering.pull":
        with pytest.raises(CallRejected):
            await pull_texts(world, run)
    with caplog.at_level(logging.CRITICAL):
        run.answer("one")
        (await world.plugins.next_run()).answer("two")
        await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["answered", "answered"]
    assert (world.surface.texts, states(world)) == (["one", "two"], [])
