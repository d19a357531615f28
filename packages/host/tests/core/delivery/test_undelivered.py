"""An undeliverable answer is announced once to its sender and recorded."""

import asyncio

from parlour.core.delivery.notices import notice_text
from parlour.core.delivery.rendering.repeat_notes import DEFAULT_REPEAT_NOTE
from parlour.core.journal import Select
from parlour.core.store.tables import TRAIL, TRANSCRIPT

from .platform_support import PlatformWorld

UNKNOWN = notice_text("delivery.unknown")
REFUSED = notice_text("delivery.refused")


async def answer_message(world: PlatformWorld, answer: str, chat_id: str = "1", chat_type: str = "private") -> None:
    await world.platform.say("hello", chat_id, chat_type=chat_type)
    (await world.plugins.next_run()).answer(answer)
    await world.rest()


async def answer_unacknowledged(world: PlatformWorld, answer: str, chat_type: str = "private") -> None:
    """Answers while both the send and its repetition stay unacknowledged."""
    world.platform.lose_answer()
    world.platform.lose_answer()
    await answer_message(world, answer, chat_type=chat_type)


async def test_sender_is_notified_of_an_unacknowledged_answer() -> None:
    world = await PlatformWorld.open()
    await answer_unacknowledged(world, "well?")
    assert world.platform.texts() == ["well?", f"well?{DEFAULT_REPEAT_NOTE}", UNKNOWN]
    assert [(row["kind"], row["state"]) for row in world.rows()] == [("message", "failed"), ("notice", "sent")]
    assert "never answered" in world.rows()[0]["reason"]
    transcript = world.journal.database.read(Select(TRANSCRIPT, order=("seq",)))
    assert (transcript[-1]["item_type"], transcript[-1]["content"]) == ("notice", UNKNOWN)


async def test_repeat_note_and_notice_are_in_the_workspace_language() -> None:
    world = await PlatformWorld.open(language="zh-Hans")
    await answer_unacknowledged(world, "well?")
    assert world.platform.texts() == [
        "well?",
        "well?\n（可能重复）",
        notice_text("delivery.unknown", language="zh-Hans"),
    ]


async def test_sender_is_notified_after_two_crashes() -> None:
    world = await PlatformWorld.open()
    world.platform.delay_seconds = 30
    await world.platform.say("hello")
    (await world.plugins.next_run()).answer("well?")
    await asyncio.sleep(1)
    assert world.states() == ["sending"]
    world = await world.restart()
    await asyncio.sleep(1)
    assert world.states() == ["sending"]
    world = await world.restart()
    world.platform.delay_seconds = 0
    await world.rest()
    assert world.states() == ["failed", "sent"]
    assert world.platform.texts()[-1] == UNKNOWN


async def test_sender_is_notified_of_a_refused_answer() -> None:
    world = await PlatformWorld.open()
    world.platform.refuse(reason="not these words", permanent=True)
    await answer_message(world, "rude words")
    assert world.platform.texts() == [REFUSED]
    assert world.rows()[0]["reason"] == "not these words"


async def test_unacknowledged_notice_is_repeated_once_without_another_notice() -> None:
    world = await PlatformWorld.open()
    world.platform.lose_answer()
    world.platform.lose_answer()
    await answer_unacknowledged(world, "well?")
    assert world.platform.texts()[2:] == [UNKNOWN, f"{UNKNOWN}{DEFAULT_REPEAT_NOTE}"]
    assert world.states() == ["failed", "failed"]


async def test_repeated_notices_are_suppressed_with_a_reason_in_the_trail() -> None:
    world = await PlatformWorld.open()
    await answer_unacknowledged(world, "one?")
    await answer_unacknowledged(world, "two?")
    assert world.platform.texts().count(UNKNOWN) == 1
    [note] = world.journal.database.read(Select(TRAIL))
    assert "less than 10 minutes ago" in note["data"]


async def test_group_is_not_notified_if_the_bot_was_not_addressed() -> None:
    world = await PlatformWorld.open()
    await answer_unacknowledged(world, "well?", chat_type="group")
    assert UNKNOWN not in world.platform.texts()
    [note] = world.journal.database.read(Select(TRAIL))
    assert "nobody had addressed the bot" in note["data"]


async def test_row_fails_and_its_notice_is_written_in_one_unit() -> None:
    world = await PlatformWorld.open()
    world.journal.broken["outbox.failed"] = 1
    await answer_unacknowledged(world, "well?")
    assert world.platform.texts().count(UNKNOWN) == 1
    assert [(row["kind"], row["state"]) for row in world.rows()] == [("message", "failed"), ("notice", "sent")]
