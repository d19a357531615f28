"""Answers arrive on the platform: in parts, in order, in the chat of the event, and as the policy says."""

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


def event_without_chat() -> PlatformSpecific:
    return PlatformSpecific(type="platform.fake.moved", event_id="moved-1", timestamp=0, action="moved")


async def answer_message(world: PlatformWorld, answer: str, chat_id: str = "1") -> None:
    await world.platform.say("hello", chat_id)
    run = await world.plugins.next_run()
    run.answer(answer)
    await world.rest()


async def test_answer_goes_to_the_chat_of_its_event() -> None:
    world = await PlatformWorld.open()
    await answer_message(world, "for one", "1")
    await answer_message(world, "for two", "2")
    assert world.platform.texts("1") == ["for one"]
    assert world.platform.texts("2") == ["for two"]
    assert [row["platform_message_id"] for row in world.rows()] == [each.message_id for each in world.platform.shown]


async def test_long_answer_arrives_in_ordered_parts_with_a_row_each() -> None:
    world = await PlatformWorld.open(chat_manifest(limit=500))
    await answer_message(world, LONG)
    texts = world.platform.texts()
    assert len(texts) > 3
    assert all(len(text) <= 500 for text in texts)
    assert "".join(texts) == LONG
    assert world.states() == ["sent"] * len(texts)


async def test_oversized_answer_arrives_as_preview_and_file() -> None:
    world = await PlatformWorld.open()
    await answer_message(world, LONG * 200)
    beginning, file = world.platform.shown
    assert beginning.text.startswith(LONG[:1000])
    assert beginning.text.endswith("All of it is in message.txt.]")
    assert [part.name for part in file.chain if isinstance(part, File)] == ["message.txt"]
    assert world.states() == ["sent", "sent"]


async def test_parts_are_committed_with_their_message() -> None:
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


async def test_parts_wait_for_an_offline_bot_without_using_attempts() -> None:
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


async def test_rows_of_an_offline_bot_expire() -> None:
    world = await PlatformWorld.open()
    await world.platform.say("hello")
    run = await world.plugins.next_run()
    world.platform.cut()
    run.answer("here I am")
    await asyncio.sleep(3700)
    await world.rest()
    assert world.states() == ["expired"]


async def test_part_refused_permanently_does_not_block_the_others() -> None:
    world = await PlatformWorld.open(chat_manifest(limit=500))
    world.platform.refuse(reason="not allowed here", permanent=True)
    await answer_message(world, LONG)
    states = world.states()
    assert states[0] == "failed"
    assert set(states[1:]) == {"sent"}
    assert world.rows()[0]["reason"] == "not allowed here"


async def test_retry_after_is_honoured_and_order_is_kept() -> None:
    world = await PlatformWorld.open(chat_manifest(limit=500))
    world.platform.refuse(reason="slow down", retry_after=30)
    started = asyncio.get_running_loop().time()
    await answer_message(world, LONG)
    assert "".join(world.platform.texts()) == LONG
    assert asyncio.get_running_loop().time() - started >= 30


async def test_unacknowledged_send_is_repeated_once_with_note() -> None:
    world = await PlatformWorld.open()
    world.platform.lose_answer()
    await answer_message(world, "once?")
    assert world.platform.texts() == ["once?", "once?\n(possibly repeated)"]
    assert world.states() == ["sent"]


async def test_platform_that_finds_the_message_gets_no_repetition() -> None:
    world = await PlatformWorld.open()
    world.platform.remembers_keys = True
    world.platform.lose_answer()
    await answer_message(world, "once")
    assert world.platform.texts() == ["once"]
    assert world.rows()[0]["platform_message_id"] == world.platform.shown[0].message_id


async def test_sends_keep_the_rate_limit_of_the_chat() -> None:
    world = await PlatformWorld.open(chat_manifest(limit=500, sends=1))
    started = asyncio.get_running_loop().time()
    await answer_message(world, LONG)
    count = len(world.platform.texts())
    assert asyncio.get_running_loop().time() - started >= count - 1


async def test_quote_policy_quotes_only_in_the_first_message() -> None:
    agent = make_agent(delivery_policy={"reply": "quote"})
    world = await PlatformWorld.open(chat_manifest(limit=500), agent)
    await answer_message(world, LONG)
    quotes = [[part.id for part in each.chain if isinstance(part, Quote)] for each in world.platform.shown]
    assert quotes[0] == ["in-1"]
    assert all(not each for each in quotes[1:])


async def test_stored_tiny_message_size_is_raised_to_the_minimum() -> None:
    world = await PlatformWorld.open(agent=make_agent(delivery_policy={"max_message_size": 1}))
    await answer_message(world, LONG)
    texts = world.platform.texts()
    assert "".join(texts) == LONG
    assert 40 < max(len(text) for text in texts) <= MIN_MESSAGE_SIZE


async def test_event_without_a_chat_is_answered_at_the_fallback_target() -> None:
    fallback = {"bot_id": "bot", "chat_type": "group", "chat_id": "99"}
    agent = make_agent(event_types=("*",), delivery_policy={"fallback_target": fallback})
    world = await PlatformWorld.open(agent=agent)
    await world.platform.happen(event_without_chat())
    (await world.plugins.next_run()).answer("noted")
    await world.rest()
    assert world.platform.texts("99") == ["noted"]


@pytest.mark.parametrize("surface", ["schedule", "webhook"])
async def test_schedules_and_webhooks_are_answered_at_the_fallback_target(surface: str) -> None:
    fallback = {"bot_id": "bot", "chat_type": "group", "chat_id": "99"}
    world = await PlatformWorld.open(agent=make_agent(delivery_policy={"fallback_target": fallback}))
    await world.core.gateway.ingest(message("it is time", surface=surface, principal=""))
    (await world.plugins.next_run()).answer("good morning")
    await world.rest()
    assert world.platform.texts("99") == ["good morning"]


async def test_answer_without_a_target_fails_with_a_reason() -> None:
    world = await PlatformWorld.open(agent=make_agent(event_types=("*",)))
    await world.platform.happen(event_without_chat())
    (await world.plugins.next_run()).answer("noted")
    await world.rest()
    [row] = world.rows()
    assert row["state"] == "failed"
    assert "fallback_target" in row["reason"]


async def test_typing_is_shown_for_slow_runs_only() -> None:
    world = await PlatformWorld.open()
    await answer_message(world, "fast")
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


async def test_failed_typing_indicator_is_ignored() -> None:
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


async def test_created_run_answers_in_the_chat_of_its_creator() -> None:
    world = await PlatformWorld.open(discovery=run_creating_discovery())
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
    data = created.context["event"]["data"]
    assert (data["chat_id"], data["message_id"], data["note"]) == ("1", "in-1", "kept")
    assert "request_id" not in data


def run_creating_discovery() -> dict[str, Any]:
    manifest = {**DISCOVERY["manifest"], "permissions": {"agent_runs": ["create"]}}  # type: ignore[dict-item]
    return {**DISCOVERY, "manifest": manifest}


@pytest.mark.parametrize(
    ("age_seconds", "runs"), [(61, 0), (30, 1), (-7200, 1)], ids=["too late", "late", "from the future"]
)
async def test_late_message_is_not_answered(age_seconds: int, runs: int) -> None:
    world = await PlatformWorld.open(chat_manifest(), make_agent(stale_after=60))
    await world.platform.say("hello", happened_at=LoopClock().now() - 1000 * age_seconds)
    await settle()
    assert len(world.plugins.runs) == runs
    outcomes = [row["outcome"] for row in world.journal.database.read(Select(OUTCOMES))]
    assert outcomes == ([] if runs else ["expired"])
