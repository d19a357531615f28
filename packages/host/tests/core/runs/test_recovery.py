"""What a Host that died left behind: ended honestly, tried anew where that is safe, and owed until it is settled."""

import pytest

from parlour.core.encoding import loads
from parlour.core.store.tables import INBOX, OUTBOX, OUTCOMES, RUN_EVENTS, RUNS, TRANSCRIPT

from ..support import World, make_agent, settle


def outcomes(world: World) -> list[str]:
    return [row["outcome"] for row in world.rows(OUTCOMES)]


def notices(world: World) -> list[str]:
    return [loads(row["payload"])["code"] for row in world.rows(OUTBOX) if row["kind"] == "notice"]


async def test_what_was_accepted_and_not_begun_is_answered_in_order_after_a_restart() -> None:
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


async def test_a_run_that_was_cut_off_before_anything_happened_is_tried_anew_as_a_new_run() -> None:
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


async def test_what_was_begun_keeps_its_place_before_what_came_later() -> None:
    world = await World.open()
    await world.say("first", surface="platform")
    await world.plugins.next_run()
    await world.say("second", surface="platform", actor="bob")
    await settle()
    world.plugins.echo = True
    world = await world.restart()
    await world.rest()
    assert [run.context["input"]["text"] for run in world.plugins.runs] == ["first", "second"]


@pytest.mark.parametrize("what", ["shown", "effect"])
async def test_a_run_that_had_shown_or_done_something_ends_with_one_notice_instead(what: str) -> None:
    world = await World.open()
    await world.say("hi")
    lost = await world.plugins.next_run()
    if what == "shown":
        lost.send(lost.delta("hel"))
        await settle()
    else:
        await world.call(lost, "state_set", scope="actor", key="k", value=1)
    world = await world.restart()
    await world.rest()
    assert world.plugins.runs == []
    assert outcomes(world) == ["failed"]
    assert notices(world) == ["interrupted"]


async def test_an_event_that_keeps_killing_its_host_is_quarantined_visibly() -> None:
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


async def test_an_agent_that_never_restarts_says_so_at_once() -> None:
    world = await World.open(make_agent(restart_policy="never"))
    await world.say("hi")
    await world.plugins.next_run()
    world = await world.restart()
    await world.rest()
    assert outcomes(world) == ["failed"]
    assert notices(world) == ["interrupted"]


async def test_what_a_lost_run_had_claimed_or_pulled_is_owed_again_in_order() -> None:
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


async def test_each_message_is_in_the_transcript_once_however_often_it_was_tried() -> None:
    world = await World.open()
    await world.say("hi")
    await world.plugins.next_run()
    world.plugins.echo = True
    world = await world.restart()
    await world.rest()
    assert [(row["role"], row["content"]) for row in world.rows(TRANSCRIPT)] == [("user", "hi"), ("assistant", "hi")]


async def test_a_message_that_was_growing_on_a_screen_stays_unfinished() -> None:
    world = await World.open()
    await world.say("hi")
    lost = await world.plugins.next_run()
    lost.send(lost.delta("hel"))
    await settle()
    assert [row["state"] for row in world.rows(OUTBOX)] == ["streaming"]
    world = await world.restart()
    await world.rest()
    assert [(row["kind"], row["state"]) for row in world.rows(OUTBOX)] == [("message", "failed"), ("notice", "sent")]


async def test_a_message_that_was_answered_and_not_yet_sent_is_sent_after_a_restart() -> None:
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


async def test_a_storage_failure_in_the_middle_of_a_run_is_made_up_for_when_the_disk_has_room() -> None:
    world = await World.open()
    world.journal.broken["run.end"] = 1
    await world.say("hi")
    run = await world.plugins.next_run()
    world.plugins.echo = True
    run.answer("hello")
    await world.rest()
    assert outcomes(world) == ["answered"]
    assert world.core.sessions.all() == []


async def test_a_storage_failure_before_a_run_starts_costs_no_attempt() -> None:
    world = await World.open(echo=True)
    world.journal.broken["run.open"] = 2
    await world.say("hi")
    await world.rest()
    assert outcomes(world) == ["answered"]
    assert [row["attempt"] for row in world.rows(RUNS)] == [1]


async def test_a_start_reads_only_what_is_there_when_nothing_is_owed() -> None:
    world = await World.open(echo=True)
    await world.say("hi")
    await world.rest()
    world = await world.restart()
    await world.rest()
    assert world.plugins.runs == []
    assert world.journal.units == []
