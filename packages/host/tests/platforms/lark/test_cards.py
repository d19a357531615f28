"""Tests answers that grow in cards: numbers of changes, restarts, refusals, ratings, and buttons."""

import asyncio
import time

import pytest

from parlour.core.platforms.port import PlatformUncertain
from parlour.testing.lark_simulator import LarkSimulator
from parlour.testing.lark_simulator.checks import buttons_of
from parlour_sdk.protocol.chain import File, Plain, Platform

from .conftest import ANN, BOB, GROUP, Bot


async def grown(bot: Bot, key: str = "a-key", *pieces: str) -> None:
    stream = await bot.api.open_stream("group", GROUP, key)
    for piece in pieces:
        await stream.append(piece)


async def test_an_answer_grows_in_one_card_and_ends_complete(bot: Bot) -> None:
    stream = await bot.api.open_stream("group", GROUP, "a-key")
    for piece in ("one", " two", " three"):
        await stream.append(piece)
    result = await stream.finish([Plain(text="one two three four")])
    [sent] = bot.simulator.sent(GROUP)
    assert sent.id == result.message_id
    assert sent.versions == ["one", "one two", "one two three", "one two three four"]
    [card] = bot.simulator.world.cards.values()
    assert card.numbers == sorted(set(card.numbers))
    assert not card.is_streaming


async def test_a_restarted_host_continues_the_card_with_larger_numbers(simulator: LarkSimulator, url: str) -> None:
    async with Bot(simulator, url).served() as first:
        await grown(first, "a-key", "half of", " an answer")
    async with Bot(simulator, url).served() as second:
        stream = await second.api.open_stream("group", GROUP, "a-key")
        await stream.append("the answer")
        await stream.finish([Plain(text="the answer is whole")])
    [sent] = simulator.sent(GROUP)
    assert sent.text == "the answer is whole"
    card = next(each for each in simulator.world.cards.values() if each.message_id == sent.id)
    assert card.numbers == sorted(set(card.numbers))
    assert not card.is_streaming


async def test_a_message_sent_under_the_key_of_a_card_completes_it_by_an_edit(
    simulator: LarkSimulator, url: str
) -> None:
    async with Bot(simulator, url).served() as first:
        await grown(first, "a-key", "half")
    async with Bot(simulator, url).served() as second:
        sent = await second.api.send_message("group", GROUP, [Plain(text="whole")], "a-key")
        await second.api.edit_message("group", GROUP, str(sent.message_id), [Plain(text="whole")])
    [shown] = simulator.sent(GROUP)
    assert (shown.id, shown.text) == (sent.message_id, "whole")
    assert not simulator.world.cards[next(iter(simulator.world.cards))].is_streaming


async def test_a_number_that_was_used_is_replaced_by_a_larger_one(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = await bot.api.open_stream("group", GROUP, "a-key")
    await stream.append("one")
    [card] = bot.simulator.world.cards.values()
    card.numbers.append(round(time.time() * 1000) - int(bot.simulator.sent()[0].payload["create_time"]) + 86_400_500)
    await stream.append(" two")
    assert bot.simulator.texts(GROUP) == ["one two"]


async def test_streaming_that_the_service_has_ended_is_begun_again(bot: Bot) -> None:
    stream = await bot.api.open_stream("group", GROUP, "a-key")
    await stream.append("one")
    [card] = bot.simulator.world.cards.values()
    card.content["config"]["streaming_mode"] = False
    await stream.append(" two")
    assert bot.simulator.texts(GROUP) == ["one two"]


async def test_an_app_without_the_permission_for_cards_sends_the_whole_answer(bot: Bot) -> None:
    bot.simulator.faults.refuse("card_create", 99991672, times=5)
    stream = await bot.api.open_stream("group", GROUP, "a-key")
    for piece in ("one", " two"):
        await stream.append(piece)
    await stream.finish([Plain(text="one two three")])
    [sent] = bot.simulator.sent(GROUP)
    assert sent.versions == ["one two three"]


async def test_a_card_whose_answer_was_lost_is_shown_once(bot: Bot) -> None:
    bot.simulator.faults.cut("message_send")
    stream = await bot.api.open_stream("group", GROUP, "a-key")
    with pytest.raises(PlatformUncertain):
        await stream.append("one")
    await stream.finish([Plain(text="one two")])
    assert bot.simulator.texts(GROUP) == ["one two"]


async def test_files_and_buttons_of_an_answer_follow_its_card(bot: Bot) -> None:
    stream = await bot.api.open_stream("group", GROUP, "a-key")
    await stream.append("see")
    await stream.finish([Plain(text="see:"), File(base64="aGVsbG8=", name="a.pdf")])
    text, file = bot.simulator.sent(GROUP)
    assert (text.text, file.file) == ("see:", b"hello")


async def test_a_mention_in_an_answer_notifies_nobody(bot: Bot) -> None:
    stream = await bot.api.open_stream("group", GROUP, "a-key")
    await stream.append("<at id=all></at>")
    await stream.finish([Plain(text="<at id=all></at> and </at>")])
    [card] = bot.simulator.world.cards.values()
    assert card.content["body"]["elements"][0]["content"] == "&#60;at id=all>&#60;/at> and &#60;/at>"


async def test_a_rating_is_an_event_and_the_user_is_thanked(simulator: LarkSimulator, url: str) -> None:
    async with Bot(simulator, url, feedback_buttons=True).served() as bot:
        stream = await bot.api.open_stream("group", GROUP, "a-key")
        await stream.append("an answer")
        result = await stream.finish([Plain(text="an answer")])
        [sent] = simulator.sent(GROUP)
        assert [each["text"]["content"] for each in buttons_of(sent.card)] == ["👍", "👎"]
        await simulator.press(sent, "👎", BOB)
        [incoming] = await bot.link.events(1)
        event = incoming.event.model_dump()
        assert (event["type"], event["feedback_type"], event["user_id"]) == ("feedback.received", 2, BOB)
        assert event["message_id"] == result.message_id
        await simulator.until(lambda: not simulator.connection.waiting)
        assert simulator.connection.answers[-1]["data"]["toast"]["type"] == "success"


async def test_buttons_report_their_values_and_are_removed_by_an_edit(bot: Bot) -> None:
    row = [{"label": "Yes", "action_id": "approval", "value": "yes"}, {"label": "No", "action_id": "approval"}]
    buttons = Platform(platform="lark", component_type="buttons", data={"buttons": row})
    sent = await bot.api.send_message("group", GROUP, [Plain(text="sure?"), buttons])
    [shown] = bot.simulator.sent(GROUP)
    await bot.simulator.press(shown, "Yes", ANN)
    [incoming] = await bot.link.events(1)
    event = incoming.event.model_dump()
    assert (event["action_id"], event["value"], event["chat_id"]) == ("approval", "yes", GROUP)
    await bot.api.edit_message("group", GROUP, str(sent.message_id), [Plain(text="decided")])
    assert (shown.text, buttons_of(shown.card)) == ("decided", [])


async def test_the_first_text_is_shown_within_300_ms_and_the_rate_is_kept(bot: Bot) -> None:
    began = time.monotonic()
    stream = await bot.api.open_stream("private", ANN, "a-key")
    await stream.append("first")
    assert bot.simulator.texts(ANN) == ["first"]
    assert time.monotonic() - began < 0.3
    await asyncio.gather(stream.append(" second"))
    assert bot.simulator.texts(ANN) == ["first second"]
