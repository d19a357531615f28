"""Protection against loops and floods: bots are not answered, rates are limited, and notices are rare."""

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


async def send_event(world: World, by: Participant = ANN, **fields: Any) -> tuple[str, str]:
    event = message("hi", surface="platform", **{"data": PRIVATE, **fields})
    accepted = await world.core.gateway.ingest(replace(event, actor=by))
    await world.rest()
    [row] = world.rows(OUTCOMES, event_seq=accepted.seq)
    return row["outcome"], row["reason"]


def notices(world: World) -> list[str]:
    return [row["target"] for row in world.rows(OUTBOX) if row["kind"] == "notice"]


def notice_texts(world: World) -> list[str]:
    return [loads(row["payload"])["message"]["content"] for row in world.rows(OUTBOX) if row["kind"] == "notice"]


async def test_sender_in_a_group_is_limited_per_minute_with_one_notice() -> None:
    world = await World.open(echo=True, runs_per_sender=3)
    outcomes = [(await send_event(world, data=MENTION))[0] for _ in range(6)]
    assert outcomes == ["answered"] * 3 + ["limited"] * 3
    assert notice_texts(world) == ["You have sent a lot at once. Please wait a minute."]
    await asyncio.sleep(61)
    assert (await send_event(world, data=MENTION))[0] == "answered"


async def test_group_is_limited_per_minute_with_one_notice() -> None:
    world = await World.open(echo=True, runs_per_sender=3, runs_per_group=10)
    people = [Participant("user", f"person{number}") for number in range(12)]
    outcomes = [await send_event(world, data=MENTION, by=person) for person in people]
    assert [outcome for outcome, _ in outcomes] == ["answered"] * 10 + ["limited"] * 2
    assert outcomes[-1][1] == "the group has had its runs of this minute (runs.per_conversation_per_minute)"
    assert notice_texts(world) == ["This group has sent a lot at once. Please wait a minute."]


async def test_notice_is_in_the_language_of_the_user_or_workspace() -> None:
    world = await World.open(echo=True, runs_per_sender=1, language="zh-Hans")
    english = Participant("user", "ann", data={"locale": "en_GB"})
    for chat, actor in (
        ("one", english),
        ("one", english),
        ("two", Participant("user", "li")),
        ("two", Participant("user", "li")),
    ):
        await send_event(world, data=MENTION, chat=chat, by=actor)
    assert notice_texts(world) == [
        "You have sent a lot at once. Please wait a minute.",
        "你发送得太频繁，请稍等一分钟。",
    ]


async def test_private_chat_has_no_short_term_limit() -> None:
    world = await World.open(echo=True, runs_per_sender=1)
    assert [(await send_event(world))[0] for _ in range(30)] == ["answered"] * 30


async def test_private_chat_is_limited_after_ten_minutes_with_one_notice() -> None:
    world = await World.open(echo=True, runs_per_sender=3)
    outcomes = []
    for _ in range(13 * 6):
        outcomes.append((await send_event(world))[0])
        await asyncio.sleep(10)
    assert set(outcomes[: 10 * 6]) == {"answered"}
    assert outcomes[-6:].count("answered") <= 3
    assert len(notices(world)) == 1


async def test_each_group_has_its_own_count_and_the_web_chat_none() -> None:
    world = await World.open(echo=True, runs_per_sender=1)
    outcomes = [(await send_event(world, chat=chat, data=MENTION))[0] for chat in ("one", "two", "one")]
    assert outcomes == ["answered", "answered", "limited"]
    for _ in range(3):
        await world.say("hi")
    await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)][-3:] == ["answered"] * 3


async def test_message_of_a_bot_is_dropped_with_its_reason() -> None:
    world = await World.open(echo=True)
    event = replace(message(surface="platform", data=PRIVATE), actor=Participant("user", "b", "", {"is_bot": True}))
    accepted = await world.core.gateway.ingest(event)
    await world.rest()
    [row] = world.rows(OUTCOMES, event_seq=accepted.seq)
    assert row["outcome"] == "dropped"
    assert "a bot wrote it" in row["reason"]
    assert world.rows(RUNS) == []


async def open_disabled(**ports: Any) -> World:
    """Opens a world whose agent is disabled."""
    return await World.open(make_agent(enabled=False), **ports)


async def test_failure_notice_is_sent_once_per_conversation_in_ten_minutes() -> None:
    world = await open_disabled()
    for _ in range(3):
        await send_event(world)
    await send_event(world, chat="other")
    assert len(notices(world)) == 2
    trail_notes = [row["data"] for row in world.rows(TRAIL, step="notice")]
    silent = [each for each in trail_notes if "Nothing was said" in each]
    assert len(silent) == 2
    assert "less than 10 minutes ago" in silent[0]
    await asyncio.sleep(601)
    await send_event(world)
    assert len(notices(world)) == 3


async def test_notice_is_sent_after_a_failed_commit() -> None:
    world = await open_disabled()
    world.journal.broken["event.settle"] = 1
    await send_event(world)
    await world.rest()
    assert len(notices(world)) == 1


@pytest.mark.parametrize(
    ("event_type", "data", "notified"),
    [
        ("message.received", PRIVATE, True),
        ("message.received", MENTION, True),
        ("message.received", GROUP, False),
        ("message.reaction", GROUP, False),
    ],
)
async def test_only_users_who_addressed_the_bot_are_notified(
    event_type: str, data: dict[str, Any], notified: bool
) -> None:
    world = await open_disabled()
    await send_event(world, event_type=event_type, data=data)
    assert bool(notices(world)) == notified
    items = [row["item_type"] for row in world.rows(TRANSCRIPT)]
    assert ("notice" in items) == notified
    if not notified:
        assert "nobody had addressed the bot" in world.rows(TRAIL, step="notice")[0]["data"]


async def test_web_chat_users_are_notified_every_time() -> None:
    world = await open_disabled()
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


async def admit_messages(guard: LoopGuard, event: RecordedEvent, per_minute: int, minutes: float) -> list[bool]:
    """Returns which messages were admitted at this rate."""
    answers = []
    for _ in range(round(per_minute * minutes)):
        answers.append(not guard.try_acquire(event))
        await asyncio.sleep(60 / per_minute)
    return answers


async def test_guard_admits_bursts_in_private_chats() -> None:
    guard = LoopGuard(20, 120, LoopClock())
    assert all(await admit_messages(guard, in_chat("c", "private"), per_minute=6000, minutes=0.5))
    await asyncio.sleep(60)
    assert all(await admit_messages(guard, in_chat("c", "private"), per_minute=60, minutes=9))


async def test_guard_limits_a_private_loop_after_ten_minutes() -> None:
    guard = LoopGuard(20, 120, LoopClock())
    answers = await admit_messages(guard, in_chat("c", "private"), per_minute=30, minutes=40)
    first = answers.index(False)
    assert 10 <= first / 30 <= 12
    for minute in range(12, 40):
        assert sum(answers[minute * 30 : (minute + 1) * 30]) <= 20


async def test_guard_frees_a_private_chat_after_a_quiet_hour() -> None:
    guard = LoopGuard(20, 120, LoopClock())
    event = in_chat("c", "private")
    await admit_messages(guard, event, per_minute=30, minutes=12)
    await asyncio.sleep(600)
    assert not all(await admit_messages(guard, event, per_minute=30, minutes=2)), (
        "a pause of ten minutes does not free the chat"
    )
    await asyncio.sleep(3600)
    assert all(await admit_messages(guard, event, per_minute=30, minutes=2))


async def test_guard_admits_occasional_bursts() -> None:
    guard = LoopGuard(20, 120, LoopClock())
    for _ in range(60):
        assert all(await admit_messages(guard, in_chat("c", "private"), per_minute=40, minutes=1))
        await asyncio.sleep(60)


async def test_guard_forgets_quiet_conversations() -> None:
    guard = LoopGuard(1, 1, LoopClock())
    for number in range(1000):
        guard.try_acquire(in_chat(f"c{number}"))
    await asyncio.sleep(61)
    assert not guard.try_acquire(in_chat("c1"))
    guard.try_acquire(in_chat("new"))
    assert len(guard._rates) < 10


async def test_repeatedly_refused_accounts_share_one_limit() -> None:
    guard = LoopGuard(5, 1000, LoopClock())
    pair = [in_chat("c", actor=Participant("user", name)) for name in ("one", "two")]
    shares = []
    for _ in range(8):
        shares.append(sum(not guard.try_acquire(event) for _ in range(10) for event in pair))
        await asyncio.sleep(61)
    assert shares[0] == 10
    assert shares[-1] == 5
    assert guard.exceeded_limit(in_chat("c", actor=Participant("user", "ann"))) == ""


async def test_accounts_marked_as_bots_share_one_limit() -> None:
    guard = LoopGuard(5, 1000, LoopClock())
    bots = [in_chat("c", actor=Participant("user", f"bot{number}", data={"is_bot": True})) for number in range(7)]
    assert [guard.try_acquire(event) for event in bots] == [""] * 5 + ["bots"] * 2


async def test_limit_of_zero_means_unlimited() -> None:
    guard = LoopGuard(0, 3, LoopClock())
    assert [guard.try_acquire(in_chat("c", actor=Participant("user", "ann"))) for _ in range(4)] == [
        "",
        "",
        "",
        "group",
    ]
    guard.set_limits(0, 0)
    assert [guard.try_acquire(in_chat("c")) for _ in range(4)] == [""] * 4
