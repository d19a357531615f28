"""Tests answers that grow: one stream for each message, its end, restarts, and what follows when WeCom ends it."""

from typing import Any

import pytest

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.testing.wecombot_simulator import WecomBotSimulator
from parlour_sdk.protocol.chain import At, Plain

from .conftest import Bot


async def is_known(message_id: str) -> bool:
    return False


async def test_an_answer_grows_in_one_message_and_ends_complete(bot: Bot) -> None:
    await bot.hear("hello")
    stream = await bot.api.open_stream("private", "ann", "key")
    for word in ("one ", "two ", "three"):
        await stream.append(word)
    result = await stream.finish([Plain(text="one two three")])
    [shown] = bot.simulator.sent("ann")
    assert shown.versions == ["one ", "one two ", "one two three", "one two three"]
    assert (shown.finished, shown.id) == (True, result.message_id)


async def test_a_second_message_is_one_of_the_bots_own(bot: Bot) -> None:
    await bot.hear("hello")
    for number in range(3):
        await bot.api.send_message("private", "ann", [Plain(text=f"{number}")], f"key{number}")
    assert [each.kind for each in bot.simulator.sent("ann")] == ["stream", "markdown", "markdown"]


async def test_an_interrupted_answer_is_completed_in_its_place_after_a_restart(
    simulator: WecomBotSimulator, url: str
) -> None:
    first = Bot(simulator, url)
    async with first.served():
        await first.hear("hello")
        stream = await first.api.open_stream("private", "ann", "key")
        await stream.append("the begin")
    later = Bot(simulator, url)
    later.link.stored_cursor = first.link.stored_cursor
    async with later.served():
        await later.api.send_message("private", "ann", [Plain(text="the beginning and the end")], "key")
    [shown] = simulator.sent("ann")
    assert (shown.text, shown.finished) == ("the beginning and the end", True)


async def test_a_lost_acknowledgement_is_settled_by_sending_the_same_text_again(bot: Bot) -> None:
    await bot.hear("hello")
    bot.simulator.faults.cut("aibot_respond_msg")
    chain: Any = [Plain(text="once")]
    with pytest.raises(PlatformUncertain):
        await bot.api.send_message("private", "ann", chain, "key")
    await bot.simulator.until(lambda: bot.simulator.connections == 2 and bot.simulator.socket is not None)
    await bot.link.until(lambda: bot.link.now[0] == "connected")
    found = await bot.api.find_message("private", "ann", chain, "key", is_known)
    assert found is not None
    assert bot.simulator.texts("ann") == ["once"]
    assert await bot.api.find_message("private", "ann", chain, "another key", is_known) is None


async def test_the_rest_of_an_expired_stream_is_a_message_of_its_own(bot: Bot) -> None:
    await bot.hear("hello")
    stream = await bot.api.open_stream("private", "ann", "key")
    await stream.append("The first half.")
    bot.simulator.stream_seconds = -1
    await stream.finish([Plain(text="The first half. The second half.")])
    assert bot.simulator.texts("ann") == ["The first half.", " The second half."]


async def test_a_chat_without_a_new_message_is_not_streamed(bot: Bot) -> None:
    bot.simulator.chats.add("bob")
    with pytest.raises(PlatformRefused, match="only to a new message"):
        await bot.api.open_stream("private", "bob", "key")
    await bot.api.send_message("private", "bob", [Plain(text="hi")])
    assert bot.simulator.texts("bob") == ["hi"]


async def test_only_mentions_of_the_chain_notify_users(bot: Bot) -> None:
    await bot.hear("hello")
    await bot.api.send_message("private", "ann", [At(target="bob"), Plain(text="<@all> and <@bob>")])
    assert bot.simulator.texts("ann") == ["<@bob>< @all> and < @bob>"]


async def test_ratings_name_their_answer_and_are_updated_by_the_same_user(bot: Bot) -> None:
    await bot.hear("hello")
    sent = await bot.api.send_message("private", "ann", [Plain(text="answer")], "key")
    [shown] = bot.simulator.sent("ann")
    await bot.simulator.rate(shown, "ann", 2, content="wrong", inaccurate_reason_list=[1])
    await bot.simulator.rate(shown, "ann", 3)
    first, second = (each.event for each in (await bot.link.events(3))[1:])
    assert isinstance(first.feedback_type, int)  # type: ignore[attr-defined]
    for event, kind in ((first, 2), (second, 3)):
        rating: Any = event
        assert (rating.type, rating.feedback_type, rating.message_id) == ("feedback.received", kind, sent.message_id)
    assert first.feedback_id == second.feedback_id  # type: ignore[attr-defined]


async def test_without_ratings_no_answer_asks_for_one(simulator: WecomBotSimulator, url: str) -> None:
    async with Bot(simulator, url, feedback_buttons=False).served() as bot:
        await bot.hear("hello")
        await bot.api.send_message("private", "ann", [Plain(text="answer")])
    assert simulator.sent("ann")[0].feedback_id == ""
