"""Replies are counted before they are sent; those that exceed the platform's allowance are pushed, refused or held."""

import asyncio
from typing import Any

import pytest

from parlour.core.delivery.notices import notice_text
from parlour.core.delivery.rendering.repeat_notes import DEFAULT_REPEAT_NOTE
from parlour.core.journal import Select
from parlour.core.model.reply_allowance import ReplyAllowance
from parlour.core.observability.explain.explanations import Explanations
from parlour.core.store.retention import Retention, RetentionPeriods
from parlour.core.store.tables import EVENTS, REPLY_ALLOWANCES

from ..support import EPOCH, LoopClock, jump
from .platform_support import PlatformWorld

RULE = "Fakes accept two replies within a minute"


def allowance(handle: str = "token", **fields: Any) -> ReplyAllowance:
    return ReplyAllowance(handle, **{"count": 2, "until": EPOCH + 60_000, "reason": RULE, **fields})


async def answer(world: PlatformWorld, *texts: str, limit: ReplyAllowance | None, chat_id: str = "1") -> None:
    """Lets a user write, and answers with these messages."""
    await world.platform.say("hello", chat_id, reply_allowance=limit)
    run = await world.plugins.next_run()
    run.send(*(run.completed(text) for text in texts), run.finished())
    await world.rest()


def shown(world: PlatformWorld) -> list[tuple[str, tuple[str, int] | None]]:
    """Returns the texts on the platform, each with its handle and number if it is a counted reply."""
    return [(each.text, each.reply and (each.reply.handle, each.reply.number)) for each in world.platform.shown]


def used(world: PlatformWorld) -> dict[str, int]:
    return {row["handle"]: row["used"] for row in world.journal.database.read(Select(REPLY_ALLOWANCES))}


async def why(world: PlatformWorld) -> list[str]:
    explanations = Explanations(world.journal, LoopClock())
    [event] = world.journal.database.read(Select(EVENTS, limit=1))
    return [step.text for step in (await explanations.explain(event)).steps]


async def test_nothing_is_written_for_an_event_without_an_allowance() -> None:
    world = await PlatformWorld.open()
    await answer(world, "a", limit=None)
    assert shown(world) == [("a", None)]
    assert used(world) == {}
    assert "outbox.sending" not in world.journal.units


async def test_replies_are_numbered_and_those_beyond_the_count_are_pushed() -> None:
    world = await PlatformWorld.open()
    await answer(world, "a", "b", "c", limit=allowance(then="push"))
    assert shown(world) == [("a", ("token", 1)), ("b", ("token", 2)), ("c", None)]
    assert used(world) == {"token": 2}
    trail = " ".join(await why(world))
    assert "It is reply 2 to the event" in trail
    assert "goes out as a message of the bot's own" in trail


async def test_replies_beyond_the_count_are_refused_visibly_and_without_a_notice() -> None:
    world = await PlatformWorld.open()
    await answer(world, "a", "b", "c", limit=allowance(then="refuse"))
    assert shown(world) == [("a", ("token", 1)), ("b", ("token", 2))]
    assert [row["state"] for row in world.rows()] == ["sent", "sent", "failed"]
    trail = " ".join(await why(world))
    assert f"could not be sent to platform: {RULE} (all 2 replies were used)" in trail
    assert "the platform accepts no further reply to it" in trail


async def test_late_reply_is_pushed() -> None:
    world = await PlatformWorld.open()
    await world.platform.say("hello", reply_allowance=allowance())
    run = await world.plugins.next_run()
    jump(61)
    run.answer("a")
    await world.rest()
    assert shown(world) == [("a", None)]
    assert used(world) == {"token": 0}


async def test_held_reply_is_sent_with_the_next_message_of_the_chat() -> None:
    world = await PlatformWorld.open()
    limit = allowance("first", count=1, until=0, then="hold")
    await answer(world, "a", "b", limit=limit)
    assert [row["state"] for row in world.rows()] == ["sent", "held"]
    assert f"A reply is held until the next message of the chat: {RULE}" in " ".join(await why(world))
    await answer(world, "elsewhere", limit=allowance("other", then="hold"), chat_id="2")
    world = await world.restart()
    await answer(world, "c", limit=allowance("second", count=2, until=0, then="hold"))
    assert shown(world) == [
        ("a", ("first", 1)),
        ("elsewhere", ("other", 1)),
        ("b", ("second", 1)),
        ("c", ("second", 2)),
    ]


async def test_allowance_of_a_chat_is_that_of_its_newest_event() -> None:
    world = await PlatformWorld.open()
    await world.platform.say("one", reply_allowance=allowance("old", scope="chat", then="refuse"))
    first_run = await world.plugins.next_run()
    await world.platform.say("two", reply_allowance=allowance("new", count=1, scope="chat", then="refuse"))
    first_run.answer("a")
    (await world.plugins.next_run()).answer("b")
    await world.rest()
    assert shown(world) == [("a", ("new", 1))]
    assert used(world) == {"old": 0, "new": 1}


async def test_rejected_handle_applies_the_fallback() -> None:
    world = await PlatformWorld.open()
    world.platform.reject_handle()
    await answer(world, "a", "b", limit=allowance())
    assert shown(world) == [("a", None), ("b", None)]
    assert not world.platform.exceeded


async def test_refused_reply_keeps_its_number() -> None:
    world = await PlatformWorld.open()
    world.platform.refuse(retry_after=0.5)
    await answer(world, "a", limit=allowance())
    assert shown(world) == [("a", ("token", 1))]
    assert used(world) == {"token": 1}


async def test_uncertain_reply_never_becomes_a_push() -> None:
    world = await PlatformWorld.open()
    world.platform.lose_answer(happens=False)
    await answer(world, "a", limit=allowance(count=1, then="push"))
    assert shown(world) == []
    assert [(row["kind"], row["state"]) for row in world.rows()] == [("message", "failed"), ("notice", "failed")]
    assert "may have been shown" in world.rows()[0]["reason"]


async def test_uncertain_reply_is_repeated_with_a_note_by_a_further_reply() -> None:
    world = await PlatformWorld.open()
    world.platform.lose_answer()
    await answer(world, "a", limit=allowance())
    assert shown(world) == [("a", ("token", 1)), (f"a{DEFAULT_REPEAT_NOTE}", ("token", 2))]
    assert used(world) == {"token": 2}


async def test_repeatable_reply_is_sent_again_under_its_number() -> None:
    world = await PlatformWorld.open()
    world.platform.lose_answer()
    await answer(world, "a", limit=allowance(repeatable=True))
    assert shown(world) == [("a", ("token", 1))]
    assert used(world) == {"token": 1}
    assert world.states() == ["sent"]


async def test_uncertain_reply_that_is_refused_later_is_not_pushed() -> None:
    world = await PlatformWorld.open()
    world.platform.lose_answer()
    world.platform.reject_handle()
    await answer(world, "a", limit=allowance(repeatable=True))
    assert shown(world) == [("a", ("token", 1))]
    assert world.rows()[0]["state"] == "failed"


async def test_kill_before_and_during_a_send_exceeds_no_allowance() -> None:
    world = await PlatformWorld.open()
    world.platform.delay_seconds = 30
    await world.platform.say("hello", reply_allowance=allowance(count=1))
    (await world.plugins.next_run()).answer("a")
    await asyncio.sleep(1)
    assert world.states() == ["sending"]
    world = await world.restart()
    world.platform.delay_seconds = 0
    await world.rest()
    assert len([each for each in world.platform.shown if each.reply]) <= 1
    assert not world.platform.exceeded
    assert used(world) == {"token": 1}
    assert notice_text("delivery.unknown") not in world.platform.texts()


async def test_message_is_not_streamed_if_replies_are_counted() -> None:
    world = await PlatformWorld.open()
    await world.platform.say("hello", reply_allowance=allowance())
    run = await world.plugins.next_run()
    assert run.context["delivery"]["supports_streaming"] is False
    run.send(run.delta("half "), run.completed("half a text"), run.finished())
    await world.rest()
    assert shown(world) == [("half a text", ("token", 1))]


@pytest.mark.parametrize("fields", [{"count": -1}, {"until": -1}, {"count": 0, "until": 0}])
def test_allowance_without_sense_is_rejected(fields: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="reply allowance"):
        allowance(**fields)


async def test_allowances_and_held_replies_expire() -> None:
    world = await PlatformWorld.open()
    await answer(world, "a", "b", limit=allowance(count=1, then="hold"))
    jump(8 * 24 * 3600)
    retention = Retention(world.journal, world.core.artifacts, LoopClock(), RetentionPeriods())
    await retention.run_once()
    assert used(world) == {}
    assert world.states() == ["sent", "expired"]
