"""Recovery after a crash of the Host: interrupted runs end, are retried if safe, and no event is lost."""

import pytest

from parlour.core.encoding import loads
from parlour.core.store.tables import INBOX, OUTBOX, OUTCOMES, RUN_EVENTS, RUNS, TRANSCRIPT

from ..support import World, make_agent, settle


def outcomes(world: World) -> list[str]:
    return [row["outcome"] for row in world.rows(OUTCOMES)]


def notices(world: World) -> list[str]:
    return [loads(row["payload"])["code"] for row in world.rows(OUTBOX) if row["kind"] == "notice"]


async def test_accepted_events_are_answered_after_a_restart() -> None:
    world = await World.open()
    for text in ("one", "two", "three"):
        await world.say(text, chat=text)
    world.die()
    world.plugins.echo = True
    world = await world.restart()
    await world.rest()
    assert sorted(run.context["input"]["text"] for run in world.plugins.runs) == ["one", "three", "two"]
    assert outcomes(world) == ["answered"] * 3
    assert world.rows(INBOX) == []


async def test_interrupted_run_without_output_is_retried_as_a_new_run() -> None:
    world = await World.open()
    await world.say("hi")
    lost = await world.plugins.next_run()
    world = await world.restart()
    again = await world.plugins.next_run()
    assert again.run_id != lost.run_id
    assert again.context["runtime"]["attempt"] == 2
    again.answer("hello")
    await world.rest()
    runs = {row["run_id"]: row for row in world.rows(RUNS)}
    assert (runs[lost.run_id]["status"], runs[lost.run_id]["status_reason"]) == ("failed", "interrupted")
    assert runs[again.run_id]["parent_run_id"] == lost.run_id
    assert outcomes(world) == ["answered"]
    assert notices(world) == []


async def test_started_event_keeps_its_place_before_later_ones() -> None:
    world = await World.open()
    await world.say("first", surface="platform")
    await world.plugins.next_run()
    await world.say("second", surface="platform", actor="bob")
    await settle()
    world.plugins.echo = True
    world = await world.restart()
    await world.rest()
    assert [run.context["input"]["text"] for run in world.plugins.runs] == ["first", "second"]


@pytest.mark.parametrize("progress", ["shown", "effect"])
async def test_interrupted_run_with_output_or_effects_ends_with_one_notice(progress: str) -> None:
    world = await World.open()
    await world.say("hi")
    lost = await world.plugins.next_run()
    if progress == "shown":
        lost.send(lost.delta("hel"))
        await settle()
    else:
        await world.call(lost, "state_set", scope="actor", key="k", value=1)
    world = await world.restart()
    await world.rest()
    assert world.plugins.runs == []
    assert outcomes(world) == ["failed"]
    assert notices(world) == ["interrupted"]


async def test_event_that_repeatedly_crashes_the_host_is_quarantined() -> None:
    world = await World.open()
    await world.say("poison")
    await world.plugins.next_run()
    world = await world.restart()
    await world.plugins.next_run()
    world = await world.restart()
    await world.rest()
    assert world.plugins.runs == []
    assert outcomes(world) == ["quarantined"]
    assert notices(world) == ["quarantined.host"]
    assert len(world.rows(RUNS)) == 2


async def test_agent_without_restarts_is_reported_at_once() -> None:
    world = await World.open(make_agent(restart_policy="never"))
    await world.say("hi")
    await world.plugins.next_run()
    world = await world.restart()
    await world.rest()
    assert outcomes(world) == ["failed"]
    assert notices(world) == ["interrupted"]


async def test_steered_messages_of_an_interrupted_run_are_answered_in_order() -> None:
    world = await World.open()
    await world.say("first")
    lost = await world.plugins.next_run()
    await world.say("pulled")
    await settle()
    await world.call(lost, "steering_pull")
    await world.say("claimed", event_id="claimed")
    await settle()
    assert [row["state"] for row in world.rows(INBOX)] == ["running", "injected", "claimed"]
    world.plugins.echo = True
    world = await world.restart()
    await world.rest()
    assert [run.context["input"]["text"] for run in world.plugins.runs] == ["first", "pulled", "claimed"]
    assert outcomes(world) == ["answered"] * 3
    dropped = [loads(row["data"]) for row in world.rows(RUN_EVENTS) if row["type"] == "steering.dropped"]
    assert [each["source_event_id"] for each in dropped] == ["claimed"]


async def test_retried_message_is_in_the_transcript_once() -> None:
    world = await World.open()
    await world.say("hi")
    await world.plugins.next_run()
    world.plugins.echo = True
    world = await world.restart()
    await world.rest()
    assert [(row["role"], row["content"]) for row in world.rows(TRANSCRIPT)] == [("user", "hi"), ("assistant", "hi")]


async def test_streamed_message_stays_unfinished_after_a_crash() -> None:
    world = await World.open()
    await world.say("hi")
    lost = await world.plugins.next_run()
    lost.send(lost.delta("hel"))
    await settle()
    assert [row["state"] for row in world.rows(OUTBOX)] == ["streaming"]
    world = await world.restart()
    await world.rest()
    assert [(row["kind"], row["state"]) for row in world.rows(OUTBOX)] == [("message", "failed"), ("notice", "sent")]


async def test_unsent_answer_is_sent_after_a_restart() -> None:
    world = await World.open()
    world.surface.prepared.append(30.0)
    await world.say("hi", surface="platform")
    run = await world.plugins.next_run()
    run.answer("hello")
    await settle()
    world = await world.restart()
    await world.rest()
    assert world.surface.texts == ["hello", "hello"]
    assert [each.possibly_repeated for each in world.surface.tries] == [False, True]


async def test_run_with_a_failed_commit_is_retried() -> None:
    world = await World.open()
    world.journal.broken["run.end"] = 1
    await world.say("hi")
    run = await world.plugins.next_run()
    world.plugins.echo = True
    run.answer("hello")
    await world.rest()
    assert outcomes(world) == ["answered"]
    assert world.core.sessions.all() == []


async def test_failed_commit_before_the_start_costs_no_attempt() -> None:
    world = await World.open(echo=True)
    world.journal.broken["run.open"] = 2
    await world.say("hi")
    await world.rest()
    assert outcomes(world) == ["answered"]
    assert [row["attempt"] for row in world.rows(RUNS)] == [1]


async def test_start_without_pending_work_writes_nothing() -> None:
    world = await World.open(echo=True)
    await world.say("hi")
    await world.rest()
    world = await world.restart()
    await world.rest()
    assert world.plugins.runs == []
    assert world.journal.units == []
