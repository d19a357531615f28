"""Messages that join a run in progress: who may, what is kept, and who still owes them when it ends."""

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


async def pulled(world: World, run: PuppetRun, **arguments: object) -> list[str]:
    answer = await world.call(run, "steering_pull", **arguments)
    return [item["input"]["text"] for item in answer["items"]]


def states(world: World) -> list[str]:
    return [row["state"] for row in world.rows(INBOX)]


async def test_a_further_message_of_the_same_person_joins_the_run() -> None:
    world, run = await active()
    await world.say("second")
    await settle()
    assert states(world) == ["running", "claimed"]
    assert await pulled(world, run) == ["second"]
    assert states(world) == ["running", "injected"]
    run.answer("both")
    await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["answered", "answered"]
    assert len(world.plugins.runs) == 1


async def test_the_ledger_tells_who_was_claimed_and_injected() -> None:
    world, run = await active()
    await world.say("second", event_id="second")
    await settle()
    await pulled(world, run)
    queued, injected = world.facts(run.run_id)
    assert queued[0] == "steering.queued"
    assert queued[1]["source_event_id"] == "second"
    assert queued[1]["claimed_by_run_id"] == run.run_id
    assert queued[1].keys() == {"source_event_id", "claimed_by_run_id", "claimed_runner_id", "claimed_at"}
    assert injected == ("steering.injected", {"source_event_id": "second"})
    run.answer("both")
    await world.rest()


async def test_a_message_of_somebody_else_waits_for_its_own_run() -> None:
    world, run = await active(surface="platform")
    await world.say("second", surface="platform", actor="bob")
    await settle()
    assert states(world) == ["running", "owed"]
    assert await pulled(world, run) == []
    run.answer("for ann")
    (await world.plugins.next_run()).answer("for bob")
    await world.rest()


async def test_somebody_of_another_kind_with_the_same_id_is_somebody_else() -> None:
    world, run = await active(surface="platform")
    await world.core.gateway.ingest(replace(message("second", surface="platform"), actor=Participant("bot", "ann")))
    await settle()
    assert states(world) == ["running", "owed"]
    run.answer("for ann")
    (await world.plugins.next_run()).answer("for the bot")
    await world.rest()


async def test_a_message_for_another_agent_waits_for_its_own_run() -> None:
    world, run = await active(surface="platform")
    await world.core.agents.add(make_agent("other"))
    await world.core.routes.replace("bot", [Route("*", "agent", {"agent_id": "other"})])
    await world.say("second", surface="platform")
    await settle()
    assert states(world) == ["running", "owed"]
    run.answer("one")
    (await world.plugins.next_run()).answer("two")
    await world.rest()


async def test_a_runner_that_can_not_be_steered_is_not() -> None:
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


async def test_when_the_queue_is_full_the_message_takes_the_ordinary_path() -> None:
    world, run = await active()
    for number in range(STEERING_QUEUE + 2):
        await world.say(f"more {number}")
    await settle(3000)
    assert states(world).count("claimed") == STEERING_QUEUE
    assert states(world).count("owed") == 2
    assert len(await pulled(world, run)) == STEERING_QUEUE
    world.plugins.echo = True
    run.answer("much")
    await world.rest()
    own = [each.context["input"]["text"] for each in world.plugins.runs]
    assert own == ["first", f"more {STEERING_QUEUE}", f"more {STEERING_QUEUE + 1}"]


@pytest.mark.parametrize(
    ("arguments", "first"),
    [({"mode": "one-at-a-time"}, ["b"]), ({"limit": 2}, ["b", "c"]), ({}, ["b", "c", "d"])],
    ids=["one at a time", "limit", "all"],
)
async def test_a_runner_pulls_as_many_as_it_asks_for_and_the_rest_stays(
    arguments: dict[str, object], first: list[str]
) -> None:
    world, run = await active()
    for text in ("b", "c", "d"):
        await world.say(text)
    await settle(200)
    assert await pulled(world, run, **arguments) == first
    assert first + await pulled(world, run) == ["b", "c", "d"]
    run.answer("all")
    await world.rest()


async def test_what_was_claimed_and_never_pulled_is_dropped_visibly_and_answered_in_order() -> None:
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


async def test_a_failing_run_owes_again_what_it_had_taken_in() -> None:
    world, run = await active()
    await world.say("second")
    await settle()
    await pulled(world, run)
    run.send(run.failed())
    again = await world.plugins.next_run()
    assert again.context["input"]["text"] == "second"
    again.answer("the second")
    await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["failed", "answered"]


async def test_a_crashed_run_is_tried_anew_before_what_it_had_taken_in() -> None:
    world, run = await active()
    await world.say("second")
    await settle()
    await pulled(world, run)
    run.crash()
    again = await world.plugins.next_run()
    assert again.context["input"]["text"] == "first"
    assert again.context["runtime"]["attempt"] == 2
    world.plugins.echo = True
    again.answer("the first")
    await world.rest()
    assert [each.context["input"]["text"] for each in world.plugins.runs] == ["first", "first", "second"]
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["answered", "answered"]


async def test_a_users_own_cancel_ends_what_was_absorbed_and_says_so() -> None:
    world, run = await active()
    await world.say("second")
    await settle()
    await pulled(world, run)
    session = world.core.sessions.get(run.run_id)
    assert session is not None
    session.stop(CANCELLED)
    await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["cancelled", "cancelled"]
    notices = [row["payload"] for row in world.rows(OUTBOX) if row["kind"] == "notice"]
    assert len(notices) == 1
    assert "together with 1 message it had taken in" in notices[0]
    assert len(world.plugins.runs) == 1


async def test_a_users_cancel_leaves_what_was_not_yet_pulled_to_its_own_run() -> None:
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


async def test_a_message_is_in_the_transcript_once_whatever_became_of_its_claim() -> None:
    world, run = await active()
    await world.say("second")
    await settle()
    run.answer("one")
    (await world.plugins.next_run()).answer("two")
    await world.rest()
    users = [row["content"] for row in world.rows(TRANSCRIPT) if row["role"] == "user"]
    assert sorted(users) == ["first", "second"]


async def test_a_claim_that_can_not_be_written_takes_the_ordinary_path() -> None:
    world, run = await active()
    world.journal.broken["steering.claim"] = 1
    await world.say("second")
    await settle()
    assert states(world) == ["running", "owed"]
    run.answer("one")
    (await world.plugins.next_run()).answer("two")
    await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["answered", "answered"]


async def test_a_run_that_is_over_pulls_nothing() -> None:
    world, run = await active()
    await world.say("second")
    await settle()
    session = world.core.sessions.get(run.run_id)
    assert session is not None
    session.stop(CANCELLED)
    with pytest.raises(Exception, match="being ended"):
        await pulled(world, run)
    (await world.plugins.next_run()).answer("two")
    await world.rest()


@pytest.mark.parametrize("unit", ["steering.claim", "steering.pull"])
async def test_a_message_is_answered_though_nobody_knows_whether_the_run_had_taken_it(
    unit: str, caplog: pytest.LogCaptureFixture
) -> None:
    world, run = await active(surface="platform")
    world.journal.unsure[unit] = 1
    await world.say("second", surface="platform")
    await settle()
    if unit == "steering.pull":
        with pytest.raises(CallRejected):
            await pulled(world, run)
    with caplog.at_level(logging.CRITICAL):
        run.answer("one")
        (await world.plugins.next_run()).answer("two")
        await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["answered", "answered"]
    assert (world.surface.texts, states(world)) == (["one", "two"], [])
