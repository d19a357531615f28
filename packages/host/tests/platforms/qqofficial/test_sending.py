"""Tests what is sent to QQ: counted replies and their numbers, streams, files, Markdown with buttons, and refusals."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from parlour.core.platforms.port import PlatformRefused, ReplyHandleRejected
from parlour.testing.qqofficial_simulator import QQSimulator
from parlour_sdk.protocol.chain import At, File, Image, Plain, Platform

from .conftest import ANN, GROUP, Bot

HELLO = base64.b64encode(b"hello").decode()


def buttons(*labels: str) -> Platform:
    pressed = [{"label": label, "action_id": "approval", "value": f"{label} ab"} for label in labels]
    return Platform(platform="qqofficial", component_type="buttons", data={"buttons": pressed})


async def test_each_reply_has_a_number_and_the_sixth_is_rejected_in_words(bot: Bot) -> None:
    reply = await bot.hear("hello", GROUP)
    for number in range(1, 6):
        await bot.api.send_reply(replace(reply, number=number), "group", GROUP, [Plain(text=f"{number}")])
    with pytest.raises(ReplyHandleRejected, match="can't be answered any more"):
        await bot.api.send_reply(replace(reply, number=6), "group", GROUP, [Plain(text="6")])
    assert bot.simulator.texts(GROUP) == ["1", "2", "3", "4", "5"]


async def test_a_reply_after_the_window_is_rejected_in_words(bot: Bot) -> None:
    reply = await bot.hear("hello", GROUP)
    bot.simulator.rules.shift_seconds = 301
    with pytest.raises(ReplyHandleRejected):
        await bot.api.send_reply(reply, "group", GROUP, [Plain(text="late")])


async def test_a_repeated_reply_is_shown_once(bot: Bot) -> None:
    reply = await bot.hear("hello")
    for _ in range(2):
        await bot.api.send_reply(reply, "private", ANN, [Plain(text="once"), Image(base64=HELLO), Plain(text="more")])
    assert bot.simulator.texts(ANN) == ["once", "more"]


async def test_windows_and_counts_of_events(bot: Bot) -> None:
    for chat, kind in (("", ""), (GROUP, ""), ("8000", "AT_MESSAGE_CREATE"), ("7001", "DIRECT_MESSAGE_CREATE")):
        await bot.hear("hello", chat, kind)
    found = [(each.event, each.reply_allowance) for each in bot.link.incoming]
    allowances = [allowance for _, allowance in found if allowance is not None]
    assert [each.count for each in allowances] == [5] * 4
    assert [each.streams for each in allowances] == [True, False, False, False]
    assert {each.then for each in allowances} == {"hold"}
    assert allowances[0].until - allowances[1].until == pytest.approx(3_300_000, abs=5000)
    chats: list[Any] = [event for event, _ in found]
    assert [(each.chat_type, each.chat_id) for each in chats] == [
        ("private", ANN), ("group", GROUP), ("group", "8000"), ("private", "7001"),
    ]  # fmt: skip


async def test_a_stream_grows_and_ends_complete(bot: Bot) -> None:
    await bot.hear("hello")
    stream = await bot.api.open_stream("private", ANN, "key")
    for word in ("one ", "two ", "three"):
        await stream.append(word)
    await stream.finish([Plain(text="one two three"), Image(base64=HELLO)])
    first, second = bot.simulator.sent(ANN)
    assert (first.versions, first.done) == (["one ", "one two ", "one two three", "one two three"], True)
    assert first.numbers == [0, 1, 2, 3]
    assert second.file == b"hello"


async def test_a_refused_stream_is_sent_when_it_is_complete(bot: Bot) -> None:
    await bot.hear("hello")
    bot.simulator.faults.refuse("stream", 40034010)
    stream = await bot.api.open_stream("private", ANN, "key")
    await stream.append("one")
    await stream.finish([Plain(text="one two")])
    assert [(each.kind, each.text) for each in bot.simulator.sent(ANN)] == [("users", "one two")]


async def test_a_later_process_ends_a_stream_in_its_place_under_larger_numbers(
    simulator: QQSimulator, url: str
) -> None:
    async with Bot(simulator, url).served() as first:
        reply = await first.hear("hello")
        stream = await first.api.open_stream("private", ANN, "key")
        for word in ("one", " two", " three"):
            await stream.append(word)
    later = Bot(simulator, url)
    later.link.stored_cursor = first.link.stored_cursor
    async with later.served():
        result = await later.api.send_reply(reply, "private", ANN, [Plain(text="one two three four")], "key")
        again = await later.api.send_reply(reply, "private", ANN, [Plain(text="other")], "other key")
    shown, other = simulator.sent(ANN)
    assert (shown.text, shown.done, result.message_id) == ("one two three four", True, shown.id)
    assert shown.numbers == sorted(set(shown.numbers))
    assert (other.text, again.message_id) == ("other", other.id)


async def test_a_stream_that_qq_has_ended_is_followed_by_the_whole_answer(simulator: QQSimulator, url: str) -> None:
    async with Bot(simulator, url).served() as first:
        reply = await first.hear("hello")
        await (await first.api.open_stream("private", ANN, "key")).append("one")
    simulator.messages[0].done = True
    later = Bot(simulator, url)
    later.link.stored_cursor = first.link.stored_cursor
    async with later.served():
        for _ in range(2):
            await later.api.send_reply(reply, "private", ANN, [Plain(text="one two")], "key")
    assert simulator.texts(ANN) == ["one", "one two"]


async def test_an_ended_stream_is_not_stored(bot: Bot) -> None:
    await bot.hear("hello")
    stream = await bot.api.open_stream("private", ANN, "key")
    await stream.append("one")
    assert "key" in json.loads(bot.link.stored_cursor or "{}")["streams"]
    await stream.finish([Plain(text="one two")])
    await bot.hear("again")
    await bot.link.until(lambda: json.loads(bot.link.stored_cursor or "{}")["streams"] == {})


async def test_a_chat_without_a_new_message_is_not_streamed(bot: Bot) -> None:
    assert (bot.api.streams("private"), bot.api.streams("group")) == (True, False)
    with pytest.raises(PlatformRefused, match="only to a new message"):
        await bot.api.open_stream("private", "nobody", "key")


async def test_an_address_that_qq_refuses_is_made_unclickable(bot: Bot) -> None:
    reply = await bot.hear("hello")
    await bot.api.send_reply(reply, "private", ANN, [Plain(text="see https://example.com/a.b and 1.5")])
    assert bot.simulator.texts(ANN) == ["see https://example。com/a。b and 1.5"]


async def test_files_are_uploaded_with_their_text(bot: Bot) -> None:
    reply = await bot.hear("hello", GROUP)
    chain: Any = [
        Plain(text="see"),
        File(base64=HELLO, name="报告.pdf", mime_type="application/pdf"),
        Image(base64=HELLO),
    ]
    await bot.api.send_reply(reply, "group", GROUP, chain)
    assert [(each.text, each.file) for each in bot.simulator.sent(GROUP)] == [("see", b"hello"), ("", b"hello")]
    assert next((kind, name) for kind, name, _ in bot.simulator.files.values()) == (4, "报告.pdf")


async def test_channels_take_pictures_and_mentions(bot: Bot) -> None:
    reply = await bot.hear("hello", "8000", "AT_MESSAGE_CREATE")
    chain: Any = [At(target="1001"), Plain(text="<@!2> look"), Image(base64=HELLO, mime_type="image/png")]
    await bot.api.send_reply(reply, "group", "8000", chain)
    [sent] = bot.simulator.sent("8000")
    assert (sent.text, sent.file) == ("<@!1001> < @!2> look", b"hello")
    with pytest.raises(PlatformRefused, match="no files but pictures"):
        await bot.api.send_reply(replace(reply, number=2), "group", "8000", [File(base64=HELLO, name="a.pdf")])


async def test_buttons_are_shown_pressed_and_acknowledged(simulator: QQSimulator, url: str) -> None:
    async with Bot(simulator, url, enable_markdown=True).served() as bot:
        reply = await bot.hear("hello")
        sent = await bot.api.send_reply(reply, "private", ANN, [Plain(text="**Delete it?**"), buttons("Yes", "No")])
        [shown] = simulator.sent(ANN)
        pressed = await simulator.press(shown, "No", ANN)
        await simulator.until(lambda: simulator.acknowledged == [pressed])
        event: Any = (await bot.link.events(2))[-1].event
    assert (event.action_id, event.value, event.message_id) == ("approval", "No ab", sent.message_id)


async def test_without_the_permission_for_markdown_a_text_is_sent(simulator: QQSimulator, url: str) -> None:
    simulator.rules.allows_markdown = False
    async with Bot(simulator, url, enable_markdown=True).served() as bot:
        reply = await bot.hear("hello")
        await bot.api.send_reply(reply, "private", ANN, [Plain(text="Delete it?"), buttons("Yes")])
    assert [(each.body["msg_type"], each.text) for each in simulator.sent(ANN)] == [(0, "Delete it?")]


async def test_a_message_of_the_bots_own_is_refused_in_words(bot: Bot) -> None:
    with pytest.raises(PlatformRefused, match="may not send messages of its own") as refused:
        await bot.api.send_message("group", GROUP, [Plain(text="x")])
    assert refused.value.permanent


async def test_an_expired_token_is_fetched_again(bot: Bot) -> None:
    reply = await bot.hear("hello")
    bot.simulator.tokens.clear()
    await bot.api.send_reply(reply, "private", ANN, [Plain(text="hello")])
    assert bot.simulator.made.count("token") == 2


async def test_an_address_outside_the_allowlist_is_named(bot: Bot) -> None:
    bot.simulator.rules.own_messages = 1
    bot.simulator.faults.refuse("messages", 11298, status=401)
    with pytest.raises(PlatformRefused, match="add it to the IP allowlist") as refused:
        await bot.api.send_message("private", ANN, [Plain(text="x")])
    assert not refused.value.permanent
