"""Tests Telegram in trouble: notices to users, repeated sends, and unaffected chats."""

from collections.abc import AsyncIterator

import pytest

from parlour.testing.telegram_simulator import Simulator, native
from tests.platforms.onebot11.qq import eventually, to_agent

from .tg import Bot, Telegram

ANN, BOB = 11, 12
OLD, NEW = -42, -10042


@pytest.fixture
async def bot(tg: Telegram, echo: str) -> AsyncIterator[Bot]:
    async with tg.bot(to_agent(echo)) as bot:
        yield bot


async def test_a_reply_to_a_user_who_blocked_the_bot_fails_with_a_reason_and_other_users_are_answered(
    tg: Telegram, bot: Bot
) -> None:
    simulator = bot.simulator
    simulator.world.person(ANN)
    simulator.world.blocked.add(ANN)
    refused = await simulator.say("hello", ANN)
    await simulator.say("hello", BOB)
    await simulator.answered(1, BOB)
    step, notice = await tg.wait_for_deliveries(bot, refused, "failed")
    assert "this person has blocked the bot" in step["text"]
    assert notice["text"].startswith("A notice could not be sent")
    assert step["data"]["attempts"] == 1


async def test_a_repeated_reply_is_marked_in_the_senders_language(tg: Telegram, bot: Bot) -> None:
    simulator = bot.simulator
    simulator.world.person(ANN, language_code="zh-hans")
    simulator.faults.cut("sendMessage")
    await simulator.say("first", ANN)
    await simulator.answered(2, ANN)
    assert simulator.texts(ANN) == ["first", "first\n（可能重复）"]


async def test_a_group_that_became_a_supergroup_is_answered_in_the_supergroup(tg: Telegram, bot: Bot) -> None:
    simulator = bot.simulator
    simulator.world.add_group(OLD)
    simulator.world.add_member(OLD, ANN)
    name = f"@{simulator.world.bot['username']}"
    message = simulator.message(ANN, OLD, text=f"{name} hello", entities=native.mention(f"{name} ", name))
    simulator.world.migrate(OLD, NEW)
    await simulator.report(message=message)
    [shown] = await simulator.answered(1, NEW)
    assert shown.text == "hello"


async def test_formatting_that_is_refused_is_left_out(bot: Bot) -> None:
    simulator = bot.simulator
    simulator.faults.refuse("sendMessage", 400, "Bad Request: can't parse entities: it is not liked")
    await simulator.say("**bold**", ANN)
    [shown] = await simulator.answered(1, ANN)
    assert (shown.text, shown.message.get("entities")) == ("bold", None)


async def test_a_file_that_is_too_large_is_reported_and_the_message_is_answered(tg: Telegram, bot: Bot) -> None:
    simulator = bot.simulator
    large = {"file_id": "large", "file_unique_id": "u", "file_name": "film.mkv", "file_size": 21 * 2**20}
    await simulator.say(user=ANN, document=large, caption="watch this")
    [shown] = await simulator.answered(1, ANN)
    assert shown.text == "[document: film.mkv; it is larger than the 20 MB that Telegram hands to bots]watch this"


async def test_an_error_is_in_the_bots_state_and_other_bots_are_not_affected(tg: Telegram, bot: Bot, echo: str) -> None:
    simulator = Simulator()
    async with simulator.listening() as url:
        wrong = tg.made(to_agent(echo), simulator, url, token="123:wrong")
        assert "copy it anew from @BotFather" in await wrong.wait_for_error("token")
        assert wrong.status["state"] == "failed"
        first = tg.made(to_agent(echo), simulator, url)
        await first.is_connected()
        second = tg.made(to_agent(echo), simulator, url)
        await eventually(lambda: "another program" in f"{first.status}{second.status}", "one bot reports the other")
        nowhere = tg.made(to_agent(echo), simulator, "http://127.0.0.1:9")
        await nowhere.wait_for_error("Telegram can't be reached")
        await bot.simulator.say("hello", ANN)
        await bot.simulator.answered(1, ANN)
        for each in (wrong, first, second, nowhere):
            each.delete()
