"""What keeps a bot from being a nuisance: bots are not answered, loops end, and failures are told with tact."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from parlour.core.events.envelope import EventContext, EventEnvelope, Party, RecordedEvent
from parlour.core.facts.tables import OUTBOX, OUTCOMES, RUNS, TRAIL, TRANSCRIPT
from parlour.core.runs.loop_cap import LoopCap

from ..support import LoopClock, World, make_agent, message

PRIVATE = {"chat_type": "private", "chat_id": "ann"}
GROUP = {"chat_type": "group", "chat_id": "g"}
MENTION = {**GROUP, "mentions_bot": True}


async def said(world: World, **fields: Any) -> tuple[str, str]:
    accepted = await world.say("hi", surface="platform", **{"data": PRIVATE, **fields})
    await world.rest()
    [row] = world.rows(OUTCOMES, event_seq=accepted.seq)
    return row["outcome"], row["reason"]


def notices(world: World) -> list[str]:
    return [row["target"] for row in world.rows(OUTBOX) if row["kind"] == "notice"]


async def test_a_group_begins_so_many_runs_in_a_minute_and_is_told_once() -> None:
    world = await World.open(echo=True, runs_per_minute=3)
    outcomes = [(await said(world, data=MENTION))[0] for _ in range(6)]
    assert outcomes == ["answered"] * 3 + ["limited"] * 3
    assert len(notices(world)) == 1
    await asyncio.sleep(61)
    assert (await said(world, data=MENTION))[0] == "answered"


async def test_who_writes_to_the_bot_alone_may_write_as_fast_as_they_like() -> None:
    world = await World.open(echo=True, runs_per_minute=1)
    assert [(await said(world))[0] for _ in range(30)] == ["answered"] * 30


async def test_another_group_has_a_count_of_its_own_and_the_hosts_own_surfaces_have_none() -> None:
    world = await World.open(echo=True, runs_per_minute=1)
    outcomes = [(await said(world, chat=chat, data=MENTION))[0] for chat in ("one", "two", "one")]
    assert outcomes == ["answered", "answered", "limited"]
    for _ in range(3):
        await world.say("hi")
    await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)][-3:] == ["answered"] * 3


async def test_what_a_bot_writes_is_not_answered_and_the_outcome_says_why() -> None:
    world = await World.open(echo=True)
    event = replace(message(surface="platform", data=PRIVATE), actor=Party("user", "b", "", {"is_bot": True}))
    accepted = await world.core.gateway.ingest(event)
    await world.rest()
    [row] = world.rows(OUTCOMES, event_seq=accepted.seq)
    assert row["outcome"] == "dropped"
    assert "a bot wrote it" in row["reason"]
    assert world.rows(RUNS) == []


async def failing(**ports: Any) -> World:
    """Nobody can answer: the agent is disabled."""
    return await World.open(make_agent(enabled=False), **ports)


async def test_a_failure_is_told_once_per_conversation_in_ten_minutes() -> None:
    world = await failing()
    for _ in range(3):
        await said(world)
    await said(world, chat="other")
    assert len(notices(world)) == 2
    noted = [row["data"] for row in world.rows(TRAIL, step="notice")]
    silent = [each for each in noted if "Nothing was said" in each]
    assert len(silent) == 2
    assert "less than 10 minutes ago" in silent[0]
    await asyncio.sleep(601)
    await said(world)
    assert len(notices(world)) == 3


async def test_a_notice_that_could_not_be_written_is_told_when_it_can() -> None:
    world = await failing()
    world.journal.broken["event.settle"] = 1
    await said(world)
    await world.rest()
    assert len(notices(world)) == 1


@pytest.mark.parametrize(
    ("event_type", "data", "told"),
    [
        ("message.received", PRIVATE, True),
        ("message.received", MENTION, True),
        ("message.received", GROUP, False),
        ("message.reaction", GROUP, False),
    ],
)
async def test_only_who_addressed_the_bot_is_told(event_type: str, data: dict[str, Any], told: bool) -> None:
    world = await failing()
    await said(world, event_type=event_type, data=data)
    assert bool(notices(world)) == told
    items = [row["item_type"] for row in world.rows(TRANSCRIPT)]
    assert ("notice" in items) == told
    if not told:
        assert "nobody had addressed the bot" in world.rows(TRAIL, step="notice")[0]["data"]


async def test_who_asks_on_the_hosts_own_surfaces_is_told_every_time() -> None:
    world = await failing()
    for _ in range(3):
        await world.say("hi")
    await world.rest()
    assert len(notices(world)) == 3


def in_group(conversation_id: str) -> RecordedEvent:
    context = EventContext("x")
    envelope = EventEnvelope(
        "e", "message.received", "fake", "group:1", context, "platform", data={"chat_type": "group"}
    )
    return RecordedEvent(1, conversation_id, 0, envelope)


async def test_conversations_that_went_quiet_are_not_remembered() -> None:
    cap = LoopCap(1, LoopClock())
    for number in range(10_000):
        cap.admits(in_group(f"c{number}"))
    await asyncio.sleep(61)
    assert cap.admits(in_group("c1"))
    cap.admits(in_group("new"))
    assert len(cap._begun) < 10
