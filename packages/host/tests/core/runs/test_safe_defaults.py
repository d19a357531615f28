"""What keeps a bot from being a nuisance: bots are not answered, loops end, and failures are told with tact."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from parlour.core.encoding import loads
from parlour.core.model.event import EventContext, EventEnvelope, Participant, RecordedEvent
from parlour.core.runs.loop_guard import LoopGuard
from parlour.core.store.tables import OUTBOX, OUTCOMES, RUNS, TRAIL, TRANSCRIPT

from ..support import LoopClock, World, make_agent, message

ANN = Participant("user", "ann")
PRIVATE = {"chat_type": "private", "chat_id": "ann"}
GROUP = {"chat_type": "group", "chat_id": "g"}
MENTION = {**GROUP, "mentions_bot": True}


async def said(world: World, by: Participant = ANN, **fields: Any) -> tuple[str, str]:
    event = message("hi", surface="platform", **{"data": PRIVATE, **fields})
    accepted = await world.core.gateway.ingest(replace(event, actor=by))
    await world.rest()
    [row] = world.rows(OUTCOMES, event_seq=accepted.seq)
    return row["outcome"], row["reason"]


def notices(world: World) -> list[str]:
    return [row["target"] for row in world.rows(OUTBOX) if row["kind"] == "notice"]


def told(world: World) -> list[str]:
    return [loads(row["payload"])["message"]["content"] for row in world.rows(OUTBOX) if row["kind"] == "notice"]


async def test_a_sender_in_a_group_begins_so_many_runs_in_a_minute_and_is_told_once() -> None:
    world = await World.open(echo=True, runs_per_sender=3)
    outcomes = [(await said(world, data=MENTION))[0] for _ in range(6)]
    assert outcomes == ["answered"] * 3 + ["limited"] * 3
    assert told(world) == ["You have sent a lot at once. Please wait a minute."]
    await asyncio.sleep(61)
    assert (await said(world, data=MENTION))[0] == "answered"


async def test_a_busy_group_of_people_is_answered_up_to_the_groups_own_limit() -> None:
    world = await World.open(echo=True, runs_per_sender=3, runs_per_group=10)
    people = [Participant("user", f"person{number}") for number in range(12)]
    outcomes = [await said(world, data=MENTION, by=person) for person in people]
    assert [outcome for outcome, _ in outcomes] == ["answered"] * 10 + ["limited"] * 2
    assert outcomes[-1][1] == "the group has had its runs of this minute (runs.per_conversation_per_minute)"
    assert told(world) == ["This group has sent a lot at once. Please wait a minute."]


async def test_people_are_told_in_their_own_language_and_otherwise_in_that_of_the_workspace() -> None:
    world = await World.open(echo=True, runs_per_sender=1, language="zh-Hans")
    english = Participant("user", "ann", data={"locale": "en_GB"})
    for chat, actor in (
        ("one", english),
        ("one", english),
        ("two", Participant("user", "li")),
        ("two", Participant("user", "li")),
    ):
        await said(world, data=MENTION, chat=chat, by=actor)
    assert told(world) == ["You have sent a lot at once. Please wait a minute.", "你发送得太频繁，请稍等一分钟。"]


async def test_who_writes_to_the_bot_alone_may_write_as_fast_as_they_like() -> None:
    world = await World.open(echo=True, runs_per_sender=1)
    assert [(await said(world))[0] for _ in range(30)] == ["answered"] * 30


async def test_a_private_chat_that_goes_on_so_for_ten_minutes_is_limited_and_told_once() -> None:
    world = await World.open(echo=True, runs_per_sender=3)
    outcomes = []
    for _ in range(13 * 6):
        outcomes.append((await said(world))[0])
        await asyncio.sleep(10)
    assert set(outcomes[: 10 * 6]) == {"answered"}
    assert outcomes[-6:].count("answered") <= 3
    assert len(notices(world)) == 1


async def test_another_group_has_a_count_of_its_own_and_the_hosts_own_surfaces_have_none() -> None:
    world = await World.open(echo=True, runs_per_sender=1)
    outcomes = [(await said(world, chat=chat, data=MENTION))[0] for chat in ("one", "two", "one")]
    assert outcomes == ["answered", "answered", "limited"]
    for _ in range(3):
        await world.say("hi")
    await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)][-3:] == ["answered"] * 3


async def test_what_a_bot_writes_is_not_answered_and_the_outcome_says_why() -> None:
    world = await World.open(echo=True)
    event = replace(message(surface="platform", data=PRIVATE), actor=Participant("user", "b", "", {"is_bot": True}))
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


def in_chat(conversation_id: str, chat_type: str = "group", actor: Participant = ANN) -> RecordedEvent:
    envelope = EventEnvelope(
        "e",
        "message.received",
        "fake",
        f"{chat_type}:1",
        EventContext("x"),
        "platform",
        data={"chat_type": chat_type},
        actor=actor,
    )
    return RecordedEvent(1, conversation_id, 0, envelope)


async def admitted(cap: LoopGuard, event: RecordedEvent, per_minute: int, minutes: float) -> list[bool]:
    """What became of so many messages a minute."""
    answers = []
    for _ in range(round(per_minute * minutes)):
        answers.append(not cap.try_acquire(event))
        await asyncio.sleep(60 / per_minute)
    return answers


async def test_a_person_may_write_to_the_bot_alone_as_fast_as_they_like() -> None:
    cap = LoopGuard(20, 120, LoopClock())
    assert all(await admitted(cap, in_chat("c", "private"), per_minute=6000, minutes=0.5))
    await asyncio.sleep(60)
    assert all(await admitted(cap, in_chat("c", "private"), per_minute=60, minutes=9))


async def test_two_bots_that_nobody_marked_are_stopped_in_private_after_ten_minutes() -> None:
    cap = LoopGuard(20, 120, LoopClock())
    answers = await admitted(cap, in_chat("c", "private"), per_minute=30, minutes=40)
    first = answers.index(False)
    assert 10 <= first / 30 <= 12
    for minute in range(12, 40):
        assert sum(answers[minute * 30 : (minute + 1) * 30]) <= 20


async def test_a_private_chat_that_was_stopped_is_free_again_when_it_was_quiet_for_an_hour() -> None:
    cap = LoopGuard(20, 120, LoopClock())
    event = in_chat("c", "private")
    await admitted(cap, event, per_minute=30, minutes=12)
    await asyncio.sleep(600)
    assert not all(await admitted(cap, event, per_minute=30, minutes=2)), (
        "a pause of ten minutes is what a bot makes too"
    )
    await asyncio.sleep(3600)
    assert all(await admitted(cap, event, per_minute=30, minutes=2))


async def test_who_now_and_then_writes_much_in_a_minute_is_never_stopped() -> None:
    cap = LoopGuard(20, 120, LoopClock())
    for _ in range(60):
        assert all(await admitted(cap, in_chat("c", "private"), per_minute=40, minutes=1))
        await asyncio.sleep(60)


async def test_conversations_that_went_quiet_are_not_remembered() -> None:
    cap = LoopGuard(1, 1, LoopClock())
    for number in range(1000):
        cap.try_acquire(in_chat(f"c{number}"))
    await asyncio.sleep(61)
    assert not cap.try_acquire(in_chat("c1"))
    cap.try_acquire(in_chat("new"))
    assert len(cap._talks) < 10


async def test_accounts_that_are_refused_again_and_again_share_one_limit_as_bots_do() -> None:
    cap = LoopGuard(5, 1000, LoopClock())
    pair = [in_chat("c", actor=Participant("user", name)) for name in ("one", "two")]
    shares = []
    for _ in range(8):
        shares.append(sum(not cap.try_acquire(event) for _ in range(10) for event in pair))
        await asyncio.sleep(61)
    assert shares[0] == 10
    assert shares[-1] == 5
    assert cap.exceeded_limit(in_chat("c", actor=Participant("user", "ann"))) == ""


async def test_accounts_that_are_marked_as_bots_share_one_limit_from_the_start() -> None:
    cap = LoopGuard(5, 1000, LoopClock())
    bots = [in_chat("c", actor=Participant("user", f"bot{number}", data={"is_bot": True})) for number in range(7)]
    assert [cap.try_acquire(event) for event in bots] == [""] * 5 + ["bots"] * 2


async def test_a_limit_of_0_is_none() -> None:
    cap = LoopGuard(0, 3, LoopClock())
    assert [cap.try_acquire(in_chat("c", actor=Participant("user", "ann"))) for _ in range(4)] == ["", "", "", "group"]
    cap.set_limits(0, 0)
    assert [cap.try_acquire(in_chat("c")) for _ in range(4)] == [""] * 4
