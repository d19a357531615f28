"""What an agent says arrives on its platform: in parts, in order, in the event's own chat, and as its policy says."""

import asyncio
from typing import Any

import pytest

from parlour.core.journal import Select
from parlour.core.model.delivery_policy import MIN_MESSAGE_SIZE
from parlour.core.store.tables import OUTCOMES
from parlour_sdk.protocol.chain import File, Quote
from parlour_sdk.protocol.platform_events import PlatformSpecific

from ..support import DISCOVERY, PLUGIN, LoopClock, make_agent, message, settle
from .platform_support import PlatformWorld, chat_manifest

LONG = "\n\n".join(f"Paragraph {number}. " + "Some words of it. " * 10 for number in range(12))


def somewhere_else() -> PlatformSpecific:
    return PlatformSpecific(type="platform.fake.moved", event_id="moved-1", timestamp=0, action="moved")


async def answered(world: PlatformWorld, answer: str, chat_id: str = "1") -> None:
    await world.platform.say("hello", chat_id)
    run = await world.plugins.next_run()
    run.answer(answer)
    await world.rest()


async def test_an_answer_goes_to_the_chat_that_its_event_came_from() -> None:
    world = await PlatformWorld.open()
    await answered(world, "for one", "1")
    await answered(world, "for two", "2")
    assert world.platform.texts("1") == ["for one"]
    assert world.platform.texts("2") == ["for two"]
    assert [row["platform_message_id"] for row in world.rows()] == [each.message_id for each in world.platform.shown]


async def test_a_long_answer_arrives_in_parts_in_order_each_with_its_own_row() -> None:
    world = await PlatformWorld.open(chat_manifest(limit=500))
    await answered(world, LONG)
    texts = world.platform.texts()
    assert len(texts) > 3
    assert all(len(text) <= 500 for text in texts)
    assert "".join(texts) == LONG
    assert world.states() == ["sent"] * len(texts)


async def test_an_answer_that_is_too_long_for_a_chat_arrives_as_its_beginning_and_a_file() -> None:
    world = await PlatformWorld.open()
    await answered(world, LONG * 200)
    beginning, file = world.platform.shown
    assert beginning.text.startswith(LONG[:1000])
    assert beginning.text.endswith("All of it is in message.txt.]")
    assert [part.name for part in file.chain if isinstance(part, File)] == ["message.txt"]
    assert world.states() == ["sent", "sent"]


async def test_the_parts_of_an_answer_are_committed_with_its_message() -> None:
    world = await PlatformWorld.open(chat_manifest(limit=500))
    world.platform.cut()
    await world.platform.say("hello")
    (await world.plugins.next_run()).answer(LONG)
    await settle()
    assert world.platform.texts() == []
    assert len(world.rows(state="pending")) > 3
    world.platform.mend()
    await world.rest()
    assert "".join(world.platform.texts()) == LONG


async def test_parts_wait_for_a_bot_that_is_away_without_using_up_their_attempts() -> None:
    world = await PlatformWorld.open(chat_manifest(limit=500))
    await world.platform.say("hello")
    run = await world.plugins.next_run()
    world.platform.cut()
    run.answer("here I am")
    await asyncio.sleep(1800)
    assert world.platform.texts() == []
    world.platform.mend()
    await world.rest()
    assert world.platform.texts() == ["here I am"]
    assert [row["attempts"] for row in world.rows()] == [0]


async def test_what_waits_too_long_for_its_bot_expires() -> None:
    world = await PlatformWorld.open()
    await world.platform.say("hello")
    run = await world.plugins.next_run()
    world.platform.cut()
    run.answer("here I am")
    await asyncio.sleep(3700)
    await world.rest()
    assert world.states() == ["expired"]


async def test_a_part_that_the_platform_refuses_for_good_does_not_hold_up_the_others() -> None:
    world = await PlatformWorld.open(chat_manifest(limit=500))
    world.platform.refuse(reason="not allowed here", permanent=True)
    await answered(world, LONG)
    states = world.states()
    assert states[0] == "failed"
    assert set(states[1:]) == {"sent"}
    assert world.rows()[0]["reason"] == "not allowed here"


async def test_retry_after_is_honoured_and_order_is_kept() -> None:
    world = await PlatformWorld.open(chat_manifest(limit=500))
    world.platform.refuse(reason="slow down", retry_after=30)
    begun = asyncio.get_running_loop().time()
    await answered(world, LONG)
    assert "".join(world.platform.texts()) == LONG
    assert asyncio.get_running_loop().time() - begun >= 30


async def test_a_send_that_was_never_answered_is_repeated_once_and_marked() -> None:
    world = await PlatformWorld.open()
    world.platform.lose_answer()
    await answered(world, "once?")
    assert world.platform.texts() == ["once?", "once?\n(possibly repeated)"]
    assert world.states() == ["sent"]


async def test_a_platform_that_remembers_keys_is_asked_and_nothing_is_repeated() -> None:
    world = await PlatformWorld.open()
    world.platform.remembers_keys = True
    world.platform.lose_answer()
    await answered(world, "once")
    assert world.platform.texts() == ["once"]
    assert world.rows()[0]["platform_message_id"] == world.platform.shown[0].message_id


async def test_messages_go_no_faster_than_the_chat_takes_them() -> None:
    world = await PlatformWorld.open(chat_manifest(limit=500, sends=1))
    begun = asyncio.get_running_loop().time()
    await answered(world, LONG)
    count = len(world.platform.texts())
    assert asyncio.get_running_loop().time() - begun >= count - 1


async def test_a_policy_quotes_what_is_answered_once() -> None:
    agent = make_agent(delivery_policy={"reply": "quote"})
    world = await PlatformWorld.open(chat_manifest(limit=500), agent)
    await answered(world, LONG)
    quotes = [[part.id for part in each.chain if isinstance(part, Quote)] for each in world.platform.shown]
    assert quotes[0] == ["in-1"]
    assert all(not each for each in quotes[1:])


async def test_an_agent_that_was_saved_with_a_tiny_message_size_answers_in_messages_of_the_least() -> None:
    world = await PlatformWorld.open(agent=make_agent(delivery_policy={"max_message_size": 1}))
    await answered(world, LONG)
    texts = world.platform.texts()
    assert "".join(texts) == LONG
    assert 40 < max(len(text) for text in texts) <= MIN_MESSAGE_SIZE


async def test_an_event_without_a_chat_is_answered_where_the_policy_says() -> None:
    fallback = {"bot_id": "bot", "chat_type": "group", "chat_id": "99"}
    agent = make_agent(event_types=("*",), delivery_policy={"fallback_target": fallback})
    world = await PlatformWorld.open(agent=agent)
    await world.platform.happen(somewhere_else())
    (await world.plugins.next_run()).answer("noted")
    await world.rest()
    assert world.platform.texts("99") == ["noted"]


@pytest.mark.parametrize("surface", ["schedule", "webhook"])
async def test_what_time_or_a_program_brings_is_answered_where_the_policy_says(surface: str) -> None:
    fallback = {"bot_id": "bot", "chat_type": "group", "chat_id": "99"}
    world = await PlatformWorld.open(agent=make_agent(delivery_policy={"fallback_target": fallback}))
    await world.core.gateway.ingest(message("it is time", surface=surface, principal=""))
    (await world.plugins.next_run()).answer("good morning")
    await world.rest()
    assert world.platform.texts("99") == ["good morning"]


async def test_an_answer_with_nowhere_to_go_fails_in_words() -> None:
    world = await PlatformWorld.open(agent=make_agent(event_types=("*",)))
    await world.platform.happen(somewhere_else())
    (await world.plugins.next_run()).answer("noted")
    await world.rest()
    [row] = world.rows()
    assert row["state"] == "failed"
    assert "fallback_target" in row["reason"]


async def test_a_run_that_takes_its_time_shows_that_the_bot_writes_and_a_fast_one_does_not() -> None:
    world = await PlatformWorld.open()
    await answered(world, "fast")
    assert world.platform.typing == []
    await world.platform.say("hello")
    run = await world.plugins.next_run()
    await asyncio.sleep(10)
    shown = len(world.platform.typing)
    assert shown >= 2
    run.answer("slow")
    await world.rest()
    await asyncio.sleep(60)
    assert len(world.platform.typing) <= shown + 1


async def test_typing_that_fails_harms_nothing() -> None:
    world = await PlatformWorld.open()
    world.platform.refuse("send_typing")
    await world.platform.say("hello")
    run = await world.plugins.next_run()
    await asyncio.sleep(10)
    run.answer("slow")
    await world.rest()
    assert world.platform.texts() == ["slow"]


async def test_a_notice_is_sent_as_a_message() -> None:
    world = await PlatformWorld.open()
    await world.platform.say("hello")
    (await world.plugins.next_run()).crash()
    (await world.plugins.next_run()).crash()
    await world.rest()
    assert world.platform.texts() == ["This message could not be answered: the agent failed on it more than once."]


async def test_a_run_that_a_run_creates_answers_in_the_same_chat_whatever_its_event_says() -> None:
    world = await PlatformWorld.open(discovery=creating())
    await world.platform.say("hello")
    run = await world.plugins.next_run()
    event = {
        "event_type": "message.received",
        "conversation_id": run.context["conversation"]["conversation_id"],
        "input": {"text": "more"},
        "data": {"chat_type": "private", "chat_id": "victim", "message_id": "m", "request_id": "r", "note": "kept"},
    }
    request = {"run_id": run.run_id, "call_id": f"{run.run_id}:1", "agent_id": "agent", "event": event}
    await world.core.gate.call(PLUGIN, "run_create", request)
    run.answer("first")
    created = await world.plugins.next_run()
    created.answer("second")
    await world.rest()
    assert world.platform.texts("1") == ["first", "second"]
    assert world.platform.texts("victim") == []
    told = created.context["event"]["data"]
    assert (told["chat_id"], told["message_id"], told["note"]) == ("1", "in-1", "kept")
    assert "request_id" not in told


def creating() -> dict[str, Any]:
    manifest = {**DISCOVERY["manifest"], "permissions": {"agent_runs": ["create"]}}  # type: ignore[dict-item]
    return {**DISCOVERY, "manifest": manifest}


@pytest.mark.parametrize(
    ("age_seconds", "runs"), [(61, 0), (30, 1), (-7200, 1)], ids=["too late", "late", "from the future"]
)
async def test_a_message_that_its_platform_brings_too_late_is_not_answered_out_of_the_blue(
    age_seconds: int, runs: int
) -> None:
    world = await PlatformWorld.open(chat_manifest(), make_agent(stale_after=60))
    await world.platform.say("hello", happened_at=LoopClock().now() - 1000 * age_seconds)
    await settle()
    assert len(world.plugins.runs) == runs
    outcomes = [row["outcome"] for row in world.journal.database.read(Select(OUTCOMES))]
    assert outcomes == ([] if runs else ["expired"])
