"""Commands to the Host act at once, also during a run, and reach no agent."""

import asyncio
from typing import Any

import pytest

from parlour.core.journal import StorageFailed
from parlour.core.observability.explain.explanations import Explanations
from parlour.core.store.tables import CONVERSATIONS, EVENTS, INBOX, OUTBOX, OUTCOMES, TRANSCRIPT

from ..support import World, make_agent, until


async def test_new_command_starts_a_conversation_and_keeps_the_previous_one() -> None:
    world = await World.open(echo=True)
    before = await world.say("hello")
    await world.rest()
    result = await world.say("/new")
    after = await world.say("again")
    await world.rest()
    assert before.conversation_id != result.conversation_id == after.conversation_id
    assert [row["conversation_id"] for row in world.rows(CONVERSATIONS)] == [
        before.conversation_id,
        after.conversation_id,
    ]
    assert [row["content"] for row in world.rows(TRANSCRIPT)] == ["hello", "hello", "again", "again"]
    assert len(world.plugins.runs) == 2


async def test_new_command_is_recorded_and_confirmed() -> None:
    world = await World.open(echo=True)
    result = await world.say("/new", event_id="e1")
    [event] = world.rows(EVENTS)
    assert (event["event_id"], event["input_summary"], world.rows(INBOX)) == ("e1", "/new", [])
    [outcome] = world.rows(OUTCOMES)
    assert outcome["outcome"] == "control"
    [reply] = world.rows(OUTBOX)
    assert (reply["conversation_id"], reply["state"]) == (result.conversation_id, "sent")
    trail = await Explanations(world.journal, world.clock).explain(event)
    assert "an instruction to the Host" in trail.steps[-1].text


async def test_confirmation_goes_to_the_platform_of_the_command() -> None:
    world = await World.open(echo=True)
    await world.say("/new", surface="platform")
    await world.rest()
    assert world.surface.texts == ["A new conversation begins here. What was said before is kept."]


async def test_redelivered_command_is_executed_once() -> None:
    world = await World.open(echo=True)
    first = await world.say("/new", event_id="e1")
    again = await world.say("/new", event_id="e1")
    assert (first.duplicate, again.duplicate, again.seq) == (False, True, first.seq)
    assert len(world.rows(CONVERSATIONS)) == 2
    assert len(world.rows(OUTBOX)) == 1


async def test_interrupted_command_is_executed_on_redelivery() -> None:
    world = await World.open(echo=True)
    world.journal.broken["conversation.renew"] = 1
    with pytest.raises(StorageFailed):
        await world.say("/new", event_id="e1")
    again = await world.say("/new", event_id="e1")
    assert not again.duplicate
    assert len(world.rows(CONVERSATIONS)) == 2
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["control"]


async def test_stop_command_ends_the_active_run() -> None:
    world = await World.open()
    await world.say("work")
    run = await world.plugins.next_run()
    run.send(run.delta("half"))
    await world.say("/stop")
    assert run.aborted is not None
    await until(lambda: len(world.rows(OUTCOMES)) == 2)
    assert sorted(row["outcome"] for row in world.rows(OUTCOMES)) == ["cancelled", "control"]
    assert "Stopped." in [str(row["payload"]) for row in world.rows(OUTBOX)][-1]


async def test_stop_command_without_a_run_is_answered() -> None:
    world = await World.open()
    await world.say("/stop")
    assert "Nothing is going on" in world.rows(OUTBOX)[0]["payload"]


async def test_run_of_another_user_cannot_be_stopped() -> None:
    world = await World.open()
    await world.say("work", surface="platform", actor="ann")
    run = await world.plugins.next_run()
    await world.say("/stop", surface="platform", actor="bob")
    assert run.aborted is None
    run.answer("done")
    await world.rest()
    assert world.surface.texts == ["Somebody else asked for what is going on here, and can stop it.", "done"]


ORDINARY: dict[str, dict[str, Any]] = {
    "through a door": {"text": "/new", "surface": "openai"},
    "with more text": {"text": "/new please"},
    "in other letters": {"text": "/NEW"},
    "of another type": {"text": "/new", "event_type": "message.edited"},
}


@pytest.mark.parametrize("fields", ORDINARY.values(), ids=ORDINARY)
async def test_similar_text_is_an_ordinary_message(fields: dict[str, Any]) -> None:
    world = await World.open(make_agent(event_types=("*",)), echo=True)
    await world.say(**fields)
    await world.rest()
    assert len(world.plugins.runs) == 1


async def test_command_without_a_route_is_ignored() -> None:
    world = await World.open()
    await world.core.routes.replace("bot", [])
    await world.say("/new", surface="platform")
    await until(lambda: len(world.rows(OUTCOMES)) == 1)
    await asyncio.sleep(0)
    assert world.surface.texts == []


async def test_interrupted_command_is_executed_at_the_next_start() -> None:
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
    [reply] = [row for row in world.rows(OUTBOX) if row["run_id"] == ""]
    assert "A new conversation begins" in reply["payload"]
