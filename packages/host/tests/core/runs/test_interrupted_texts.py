"""Texts of messages that were never completed: the transcript has exactly what users saw of them."""

import asyncio
from typing import Any

from parlour.core.journal import Select, where
from parlour.core.runs.delta_buffer import FLUSH_INTERVAL_SECONDS
from parlour.core.store.tables import OUTBOX, OUTCOMES, RUNS, TRANSCRIPT
from parlour_sdk.protocol.history import INTERRUPTED

from ..delivery.platform_support import PlatformWorld, chat_manifest
from ..support import World, make_agent, settle


def interrupted(world: World | PlatformWorld) -> list[str]:
    items = world.journal.database.read(Select(TRANSCRIPT, where(item_type=INTERRUPTED)))
    return [row["content"] for row in items]


async def seen_in_chat(world: World, *results: Any) -> str:
    """Sends results of the next run in one batch; returns the deltas that a client of the chat gets."""
    await world.say("tell a story", surface="webui")
    run = await world.plugins.next_run()
    [conversation] = {row["conversation_id"] for row in world.rows(RUNS)}
    subscriber = world.core.feed.subscribe(conversation)
    run.send(*[each(run) if callable(each) else each for each in results])
    await settle()
    return "".join(frame["content"] for frame in subscriber.drain() if frame["type"] == "delta")


async def test_text_that_came_together_with_the_failure_is_shown_and_kept() -> None:
    world = await World.open()
    shown = await seen_in_chat(
        world, lambda run: run.delta("One "), lambda run: run.delta("two"), lambda run: run.failed()
    )
    await world.rest()
    assert shown == "One two"
    assert interrupted(world) == ["One two"]
    [row] = [row for row in world.rows(OUTBOX) if row["kind"] == "message"]
    assert row["state"] == "failed"


async def test_nothing_is_shown_of_an_attempt_that_is_repeated() -> None:
    world = await World.open()
    shown = await seen_in_chat(world, lambda run: run.delta("One"), lambda run: run.failed(retryable=True))
    assert shown == ""
    (await world.plugins.next_run()).answer("One two")
    await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["answered"]
    assert interrupted(world) == []


async def test_masked_words_are_masked_in_what_is_kept() -> None:
    masked = {"use": "words", "config": {"words": ["secret"]}, "on": "mask"}
    world = await World.open(make_agent(message_policy={"filters": {"output": [masked]}}))
    whole = "a secret plan that is long enough to be shown"
    shown = await seen_in_chat(world, lambda run: run.delta(whole), lambda run: run.failed())
    await world.rest()
    assert shown.startswith("a ****** plan")
    assert interrupted(world) == [shown]


async def test_text_that_the_platform_had_not_got_yet_is_not_kept() -> None:
    world = await PlatformWorld.open(chat_manifest(edits=0.1))
    await world.platform.say("tell a story")
    run = await world.plugins.next_run()
    for text in ("One", " two"):
        run.send(run.delta(text))
        await settle()
    run.send(run.failed())
    await world.rest()
    assert world.platform.texts()[0] == "One"
    assert interrupted(world) == ["One"]


async def test_text_that_a_chat_showed_before_a_crash_is_kept() -> None:
    world = await World.open()
    await world.say("tell a story", surface="webui")
    run = await world.plugins.next_run()
    run.send(run.delta("One "), run.delta("two"))
    await asyncio.sleep(2 * FLUSH_INTERVAL_SECONDS)
    world = await world.restart()
    await world.rest()
    assert interrupted(world) == ["One two"]


async def test_masked_words_are_masked_in_what_is_kept_after_a_crash() -> None:
    masked = {"use": "words", "config": {"words": ["secret"]}, "on": "mask"}
    world = await World.open(make_agent(message_policy={"filters": {"output": [masked]}}))
    await seen_in_chat(world, lambda run: run.delta("a secret plan that is long enough to be shown"))
    await asyncio.sleep(2 * FLUSH_INTERVAL_SECONDS)
    world = await world.restart()
    await world.rest()
    assert [text.startswith("a ****** plan") for text in interrupted(world)] == [True]


async def test_text_that_a_platform_showed_before_a_crash_is_kept() -> None:
    world = await PlatformWorld.open(chat_manifest(edits=10))
    await world.platform.say("tell a story")
    run = await world.plugins.next_run()
    run.send(run.delta("One "), run.delta("two"))
    await asyncio.sleep(2 * FLUSH_INTERVAL_SECONDS)
    world = await world.restart()
    await world.rest()
    assert world.platform.texts()[0] == "One two"
    assert interrupted(world) == ["One two"]


async def test_nothing_is_kept_of_a_complete_message() -> None:
    world = await World.open()
    await seen_in_chat(world, lambda run: run.delta("One"), lambda run: run.completed("One"), lambda run: run.failed())
    await world.rest()
    assert interrupted(world) == []
