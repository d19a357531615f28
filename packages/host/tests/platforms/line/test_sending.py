"""Tests what is sent to LINE: replies and pushes, files, mentions, buttons, and refusals in words."""

import base64
from typing import Any

import pytest

from parlour.core.model.reply_allowance import ReplyHandle
from parlour.core.platforms.port import (
    FileContent,
    PlatformRefused,
    PlatformUncertain,
    ReplyHandleRejected,
)
from parlour_sdk.protocol.chain import At, AtAll, Face, File, Image, Plain, Platform, Quote, Video, Voice

from .conftest import Bot

HELLO = base64.b64encode(b"hello").decode()


def buttons(*row: Any) -> Platform:
    return Platform(platform="line", component_type="buttons", data={"buttons": list(row)})


async def reply(bot: Bot, event: dict[str, Any], *chain: Any) -> None:
    handle = ReplyHandle(event["replyToken"], 1, "event")
    await bot.api.send_reply(handle, "private", event["source"]["userId"], list(chain), "a-key")


async def test_a_reply_is_free_and_its_token_works_once(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    event = await bot.simulator.say("hi", ann, ann)
    await reply(bot, event, Plain(text="hello"))
    with pytest.raises(ReplyHandleRejected):
        await reply(bot, event, Plain(text="again"))
    [sent] = bot.simulator.sent()
    assert (sent.text, sent.is_reply, bot.simulator.used) == ("hello", True, 0)


async def test_a_lost_reply_is_never_pushed(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    event = await bot.simulator.say("hi", ann, ann)
    bot.simulator.faults.cut("reply")
    with pytest.raises(PlatformUncertain):
        await reply(bot, event, *(Image(url=f"https://example.com/{number}.png") for number in range(7)))
    assert [each.is_reply for each in bot.simulator.sent()] == [True] * 5
    assert "push" not in bot.simulator.made


async def test_more_than_five_messages_are_continued_by_a_push(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    event = await bot.simulator.say("hi", ann, ann)
    await reply(bot, event, *(Image(url=f"https://example.com/{number}.png") for number in range(7)))
    assert [each.is_reply for each in bot.simulator.sent()] == [True] * 5 + [False] * 2


async def test_a_push_under_the_same_key_is_shown_once(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    bot.simulator.faults.cut("push")
    with pytest.raises(PlatformUncertain):
        await bot.api.send_message("private", ann, [Plain(text="once")], "a-key")
    again = await bot.api.send_message("private", ann, [Plain(text="once")], "a-key")
    [shown] = bot.simulator.sent()
    assert again.message_id == shown.message_id


async def test_files_are_fetched_from_signed_addresses(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    bot.link.files["art"] = FileContent(b"picture", "a.png", "image/png")
    media = [Image(artifact_id="art"), Video(base64=HELLO, mime_type="video/mp4"), Voice(base64=HELLO, name="a.mp3")]
    await bot.api.send_message("private", ann, list(media))
    assert [each.content for each in bot.simulator.sent()] == [b"picture", b"hello", b"hello"]
    assert bot.simulator.sent()[2].payload["duration"] == 60_000


@pytest.mark.parametrize(
    ("media", "text"),
    [
        (File(base64=HELLO, name="a.pdf"), "[a.pdf]"),
        (Image(base64=HELLO, name="a.gif", mime_type="image/gif"), "[a.gif]"),
        (Image(url="http://example.com/a.png"), "http://example.com/a.png"),
    ],
)
async def test_a_file_that_line_does_not_show_becomes_text(bot: Bot, media: Any, text: str) -> None:
    ann = bot.simulator.world.add_user("Ann")
    await bot.api.send_message("private", ann, [media])
    assert bot.simulator.texts() == [text]


async def test_without_a_public_address_a_text_says_why_a_picture_is_missing(bot: Bot, url: str) -> None:
    async with Bot(bot.simulator, url, public_url="http://127.0.0.1:1").served() as other:
        ann = bot.simulator.world.add_user("Ann")
        await other.api.send_message("private", ann, [Image(base64=HELLO, name="a.png")])
    [text] = bot.simulator.texts()
    assert "public address is not known" in text


async def test_mentions_exist_in_groups_and_are_text_elsewhere(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    group = bot.simulator.world.add_group("talk", ann)
    chain = [At(target=ann, display="Ann"), Plain(text="{a} "), AtAll()]
    await bot.api.send_message("group", group, chain)
    await bot.api.send_message("private", ann, chain)
    mention, plain = bot.simulator.sent()
    assert (mention.payload["text"], plain.payload["text"]) == ("{p0}{{a}} {p1}", "@Ann {a} ")


async def test_a_message_is_quoted_by_the_token_that_came_with_it(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    event = await bot.simulator.say("question", ann, ann)
    await bot.api.send_message("private", ann, [Quote(id=event["message"]["id"]), Plain(text="answer")])
    await bot.api.send_message("private", ann, [Quote(id="404"), Plain(text="unquoted")])
    answer, other = bot.simulator.sent()
    assert answer.payload["quoteToken"] == event["message"]["quoteToken"]
    assert "quoteToken" not in other.payload


async def test_buttons_are_shown_with_the_text_and_return_their_value(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    row = [{"label": "Yes", "action_id": "approval", "value": {"yes": 1}}, {"label": "More", "url": "https://x.io"}]
    sent = await bot.api.send_message("private", ann, [Plain(text="sure?"), buttons(*row)])
    [asked] = bot.simulator.sent()
    assert asked.text == "sure?"
    await bot.simulator.press(asked, "Yes", ann)
    [pressed] = await bot.link.events(1)
    assert (pressed.event.action_id, pressed.event.value) == ("approval", {"yes": 1})  # type: ignore[attr-defined]
    assert pressed.event.message_id == sent.message_id  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("chain", "reason"),
    [
        ([], "nothing in this message"),
        ([Plain(text="x" * 5001)], "Length must be between"),
        ([Plain(text="x"), buttons(*({"label": str(n)} for n in range(13)))], "12 buttons"),
        ([Plain(text="x"), buttons({"label": "x", "value": "v" * 251})], "250 bytes"),
        ([Image(path="/etc/passwd")], "path of the Host's machine"),
        ([Face(id="sticker|1")], "is no sticker"),
    ],
)
async def test_what_line_would_refuse_is_explained(bot: Bot, chain: Any, reason: str) -> None:
    ann = bot.simulator.world.add_user("Ann")
    with pytest.raises(PlatformRefused, match=reason) as refused:
        await bot.api.send_message("private", ann, chain)
    assert refused.value.permanent


async def test_used_up_messages_of_the_month_are_explained_and_not_retried(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    bot.simulator.quota = 1
    await bot.api.send_message("private", ann, [Plain(text="one")])
    with pytest.raises(PlatformRefused, match="messages of this month") as refused:
        await bot.api.send_message("private", ann, [Plain(text="two")])
    assert refused.value.permanent


async def test_too_many_calls_are_retried_later(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    bot.simulator.faults.too_many("push")
    with pytest.raises(PlatformRefused) as refused:
        await bot.api.send_message("private", ann, [Plain(text="one")])
    assert not refused.value.permanent
    assert refused.value.retry_after is not None
