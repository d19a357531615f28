"""An answer that is given up is not lost in silence: its sender is told once, and the facts say what became of it."""

import asyncio

from parlour.core.delivery.notices import notice_text
from parlour.core.delivery.rendering.repeat_notes import DEFAULT_REPEAT_NOTE
from parlour.core.journal import Select
from parlour.core.store.tables import TRAIL, TRANSCRIPT

from .platform_support import PlatformWorld

UNKNOWN = notice_text("delivery.unknown")
REFUSED = notice_text("delivery.refused")


async def answered(world: PlatformWorld, answer: str, chat_id: str = "1", chat_type: str = "private") -> None:
    await world.platform.say("hello", chat_id, chat_type=chat_type)
    (await world.plugins.next_run()).answer(answer)
    await world.rest()


async def never_answered(world: PlatformWorld, answer: str, chat_type: str = "private") -> None:
    """Neither the first time nor when it is sent once more."""
    world.platform.lose_answer()
    world.platform.lose_answer()
    await answered(world, answer, chat_type=chat_type)


async def test_whoever_may_have_missed_an_answer_is_told() -> None:
    world = await PlatformWorld.open()
    await never_answered(world, "well?")
    assert world.platform.texts() == ["well?", f"well?{DEFAULT_REPEAT_NOTE}", UNKNOWN]
    assert [(row["kind"], row["state"]) for row in world.rows()] == [("message", "failed"), ("notice", "sent")]
    assert "never answered" in world.rows()[0]["reason"]
    said = world.journal.database.read(Select(TRANSCRIPT, order=("seq",)))
    assert (said[-1]["item_type"], said[-1]["content"]) == ("notice", UNKNOWN)


async def test_in_a_chinese_workspace_what_is_repeated_is_marked_in_chinese() -> None:
    world = await PlatformWorld.open(language="zh-Hans")
    await never_answered(world, "well?")
    assert world.platform.texts() == [
        "well?",
        "well?\n（可能重复）",
        notice_text("delivery.unknown", language="zh-Hans"),
    ]


async def test_whoever_may_have_missed_an_answer_through_two_crashes_is_told() -> None:
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


async def test_whoever_was_refused_an_answer_for_good_is_told() -> None:
    world = await PlatformWorld.open()
    world.platform.refuse(reason="not these words", permanent=True)
    await answered(world, "rude words")
    assert world.platform.texts() == [REFUSED]
    assert world.rows()[0]["reason"] == "not these words"


async def test_a_notice_that_is_lost_too_is_sent_once_more_and_not_followed_by_another() -> None:
    world = await PlatformWorld.open()
    world.platform.lose_answer()
    world.platform.lose_answer()
    await never_answered(world, "well?")
    assert world.platform.texts()[2:] == [UNKNOWN, f"{UNKNOWN}{DEFAULT_REPEAT_NOTE}"]
    assert world.states() == ["failed", "failed"]


async def test_a_conversation_is_told_once_in_a_while_and_the_trail_says_why_not_again() -> None:
    world = await PlatformWorld.open()
    await never_answered(world, "one?")
    await never_answered(world, "two?")
    assert world.platform.texts().count(UNKNOWN) == 1
    [note] = world.journal.database.read(Select(TRAIL))
    assert "less than 10 minutes ago" in note["data"]


async def test_nobody_is_told_in_a_group_where_nobody_had_addressed_the_bot() -> None:
    world = await PlatformWorld.open()
    await never_answered(world, "well?", chat_type="group")
    assert UNKNOWN not in world.platform.texts()
    [note] = world.journal.database.read(Select(TRAIL))
    assert "nobody had addressed the bot" in note["data"]


async def test_a_row_is_given_up_together_with_its_notice_or_not_at_all() -> None:
    world = await PlatformWorld.open()
    world.journal.broken["outbox.failed"] = 1
    await never_answered(world, "well?")
    assert world.platform.texts().count(UNKNOWN) == 1
    assert [(row["kind"], row["state"]) for row in world.rows()] == [("message", "failed"), ("notice", "sent")]
