"""What people say to the Host itself acts at once, also while a run goes on, and is never answered by an agent."""

import asyncio
from typing import Any

import pytest

from parlour.core.journal import StorageFailed
from parlour.core.observability.explain.explanations import Explanations
from parlour.core.store.tables import CONVERSATIONS, EVENTS, INBOX, OUTBOX, OUTCOMES, TRANSCRIPT

from ..support import World, make_agent, until


async def test_new_begins_a_conversation_for_the_same_chat_and_keeps_the_one_before() -> None:
    world = await World.open(echo=True)
    before = await world.say("hello")
    await world.rest()
    said = await world.say("/new")
    after = await world.say("again")
    await world.rest()
    assert before.conversation_id != said.conversation_id == after.conversation_id
    assert [row["conversation_id"] for row in world.rows(CONVERSATIONS)] == [
        before.conversation_id,
        after.conversation_id,
    ]
    assert [row["content"] for row in world.rows(TRANSCRIPT)] == ["hello", "hello", "again", "again"]
    assert len(world.plugins.runs) == 2


async def test_new_is_recorded_and_answered_with_a_word_and_owes_nothing() -> None:
    world = await World.open(echo=True)
    said = await world.say("/new", event_id="e1")
    [event] = world.rows(EVENTS)
    assert (event["event_id"], event["input_summary"], world.rows(INBOX)) == ("e1", "/new", [])
    [outcome] = world.rows(OUTCOMES)
    assert outcome["outcome"] == "control"
    [word] = world.rows(OUTBOX)
    assert (word["conversation_id"], word["state"]) == (said.conversation_id, "sent")
    trail = await Explanations(world.journal, world.clock).explain(event)
    assert "an instruction to the Host" in trail.steps[-1].text


async def test_a_word_goes_out_on_the_platform_that_it_was_asked_on() -> None:
    world = await World.open(echo=True)
    await world.say("/new", surface="platform")
    await world.rest()
    assert world.surface.texts == ["A new conversation begins here. What was said before is kept."]


async def test_a_redelivered_instruction_is_carried_out_once() -> None:
    world = await World.open(echo=True)
    first = await world.say("/new", event_id="e1")
    again = await world.say("/new", event_id="e1")
    assert (first.duplicate, again.duplicate, again.seq) == (False, True, first.seq)
    assert len(world.rows(CONVERSATIONS)) == 2
    assert len(world.rows(OUTBOX)) == 1


async def test_an_instruction_that_was_cut_off_is_carried_out_when_it_comes_again() -> None:
    world = await World.open(echo=True)
    world.journal.broken["conversation.renew"] = 1
    with pytest.raises(StorageFailed):
        await world.say("/new", event_id="e1")
    again = await world.say("/new", event_id="e1")
    assert not again.duplicate
    assert len(world.rows(CONVERSATIONS)) == 2
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["control"]


async def test_stop_ends_the_active_run_at_once_and_what_waits_is_answered() -> None:
    world = await World.open()
    await world.say("work")
    run = await world.plugins.next_run()
    run.send(run.delta("half"))
    await world.say("/stop")
    assert run.aborted is not None
    await until(lambda: len(world.rows(OUTCOMES)) == 2)
    assert sorted(row["outcome"] for row in world.rows(OUTCOMES)) == ["cancelled", "control"]
    assert "Stopped." in [str(row["payload"]) for row in world.rows(OUTBOX)][-1]


async def test_stop_without_a_run_says_so() -> None:
    world = await World.open()
    await world.say("/stop")
    assert "Nothing is going on" in world.rows(OUTBOX)[0]["payload"]


async def test_nobody_stops_what_somebody_else_asked_for() -> None:
    world = await World.open()
    await world.say("work", surface="platform", actor="ann")
    run = await world.plugins.next_run()
    await world.say("/stop", surface="platform", actor="bob")
    assert run.aborted is None
    run.answer("done")
    await world.rest()
    assert world.surface.texts == ["Somebody else asked for what is going on here, and can stop it.", "done"]


ORDINARY: dict[str, dict[str, Any]] = {
    "over the API": {"text": "/new", "surface": "api"},
    "with more text": {"text": "/new please"},
    "in other letters": {"text": "/NEW"},
    "of another type": {"text": "/new", "event_type": "message.edited"},
}


@pytest.mark.parametrize("fields", ORDINARY.values(), ids=ORDINARY)
async def test_whatever_is_not_exactly_an_instruction_is_a_message(fields: dict[str, Any]) -> None:
    world = await World.open(make_agent(event_types=("*",)), echo=True)
    await world.say(**fields)
    await world.rest()
    assert len(world.plugins.runs) == 1


async def test_where_no_agent_serves_an_instruction_is_ignored_like_everything_else() -> None:
    world = await World.open()
    await world.core.routes.replace("bot", [])
    await world.say("/new", surface="platform")
    await until(lambda: len(world.rows(OUTCOMES)) == 1)
    await asyncio.sleep(0)
    assert world.surface.texts == []


async def test_an_instruction_that_was_cut_off_is_carried_out_at_the_next_start() -> None:
    world = await World.open(echo=True)
    before = await world.say("hello")
    await world.rest()
    world.journal.broken["control.settle"] = 1
    with pytest.raises(StorageFailed):
        await world.say("/new", event_id="e1")
    assert [row["state"] for row in world.rows(INBOX)] == ["control"]
    world = await world.restart()
    assert world.rows(INBOX) == []
    assert len([row for row in world.rows(CONVERSATIONS) if row["conversation_id"] != before.conversation_id]) == 1
    [word] = [row for row in world.rows(OUTBOX) if row["run_id"] == ""]
    assert "A new conversation begins" in word["payload"]
