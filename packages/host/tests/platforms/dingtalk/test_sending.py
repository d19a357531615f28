"""Tests what is sent to DingTalk: cards that grow, Markdown, files, tokens, and refusals in words."""

import base64
from typing import Any

import pytest

from parlour.core.platforms.port import FileContent, PlatformRefused
from parlour.testing.dingtalk_simulator import DingTalkSimulator
from parlour_sdk.protocol.chain import File, Image, Plain, Voice
from parlour_sdk.protocol.platform_api import NotSupportedError

from .conftest import ANN, Bot


async def never_known(message_id: str) -> bool:
    return False


HELLO = base64.b64encode(b"hello").decode()


async def test_an_answer_grows_in_one_card(bot: Bot) -> None:
    stream = await bot.api.open_stream("private", ANN, "key")
    for word in ("one ", "two ", "three"):
        await stream.append(word)
    result = await stream.finish([Plain(text="one two three")])
    [card] = bot.simulator.sent(ANN)
    assert card.versions == ["one ", "one two ", "one two three", "one two three"]
    assert (card.finalized, card.status, result.message_id) == (True, "3", f"card-{card.id}")


async def test_a_later_process_completes_the_same_card(simulator: DingTalkSimulator, url: str) -> None:
    async with Bot(simulator, url).served() as bot:
        stream = await bot.api.open_stream("group", "cid==", "key")
        await stream.append("the begin")
    async with Bot(simulator, url).served() as bot:
        chain: Any = [Plain(text="the beginning and the end")]
        found = await bot.api.find_message("group", "cid==", chain, "key", never_known)
        assert await bot.api.find_message("group", "cid==", chain, "other key", never_known) is None
    [card] = simulator.sent("cid==")
    assert (card.text, card.finalized, card.status) == ("the beginning and the end", True, "3")
    assert found is not None
    assert found.message_id == f"card-{card.id}"


async def test_files_of_an_answer_follow_its_card(bot: Bot) -> None:
    stream = await bot.api.open_stream("private", ANN, "key")
    await stream.append("see")
    await stream.finish([Plain(text="see"), File(base64=HELLO, name="a.pdf"), Plain(text="there")])
    assert [each.kind for each in bot.simulator.sent(ANN)] == ["card", "sampleFile", "sampleMarkdown"]


async def test_an_answer_that_fails_ends_its_card(bot: Bot) -> None:
    stream = await bot.api.open_stream("private", ANN, "key")
    await stream.append("so far")
    await stream.fail("interrupted")
    assert [(each.text, each.status) for each in bot.simulator.sent(ANN)] == [("so far", "5")]


async def test_without_a_template_answers_do_not_grow(simulator: DingTalkSimulator, url: str) -> None:
    async with Bot(simulator, url, card_template_id="").served() as bot:
        assert not bot.api.streams("private")
        with pytest.raises(NotSupportedError):
            await bot.api.open_stream("private", ANN, "key")
        await bot.api.send_message("private", ANN, [Plain(text="whole")])
    assert simulator.texts(ANN) == ["whole"]


async def test_line_breaks_and_titles_of_markdown(bot: Bot) -> None:
    await bot.api.send_message("private", ANN, [Plain(text="# Title\none\ntwo\n\nthree")])
    [sent] = bot.simulator.sent(ANN)
    assert sent.params == {"title": "Title", "text": "# Title  \none  \ntwo\n\nthree"}


async def test_texts_without_markdown(simulator: DingTalkSimulator, url: str) -> None:
    async with Bot(simulator, url, markdown_card=False).served() as bot:
        await bot.api.send_message("private", ANN, [Plain(text="one\ntwo")])
    assert [(each.kind, each.params) for each in simulator.sent(ANN)] == [("sampleText", {"content": "one\ntwo"})]


async def test_files_are_sent_by_their_kind(bot: Bot) -> None:
    bot.link.files["art"] = FileContent(b"content", "报告.pdf", "application/pdf")
    voice, video = Voice(base64=HELLO, mime_type="audio/amr", duration=2), Image(base64=HELLO, mime_type="image/webp")
    await bot.api.send_message("private", ANN, [File(artifact_id="art"), voice, video])
    assert [each.kind for each in bot.simulator.sent(ANN)] == ["sampleFile", "sampleAudio", "sampleFile"]
    assert bot.simulator.sent(ANN)[1].params["duration"] == "2000"
    assert bot.simulator.sent(ANN)[0].params["fileName"] == "报告.pdf"


async def test_an_expired_token_is_fetched_again(bot: Bot) -> None:
    for _ in range(2):
        bot.simulator.tokens.clear()
        await bot.api.send_message("private", ANN, [Plain(text="hello"), File(base64=HELLO, name="a.pdf")])
    assert bot.simulator.made.count("v1.0/oauth2/accessToken") == 2


@pytest.mark.parametrize(
    ("code", "reason"),
    [("robot.stopped", "the app is not published"), ("robotNotExist", "check robot_code"), ("other", "400|other")],
)
async def test_a_refusal_is_explained(bot: Bot, code: str, reason: str) -> None:
    bot.simulator.faults.refuse("v1.0/robot/oToMessages/batchSend", 400, code)
    with pytest.raises(PlatformRefused, match=reason) as refused:
        await bot.api.send_message("private", ANN, [Plain(text="x")])
    assert refused.value.permanent


async def test_too_many_calls_wait(bot: Bot) -> None:
    bot.simulator.faults.too_many("v1.0/robot/oToMessages/batchSend")
    with pytest.raises(PlatformRefused) as refused:
        await bot.api.send_message("private", ANN, [Plain(text="x")])
    assert (refused.value.retry_after, refused.value.permanent) == (1.0, False)


async def test_a_user_outside_the_visible_range_is_named(bot: Bot) -> None:
    with pytest.raises(PlatformRefused, match="not within the visible range"):
        await bot.api.send_message("private", "nobody", [Plain(text="x")])


@pytest.mark.parametrize("chain", [[], [Plain(text=" ")], [File(path="/etc/passwd")], [Plain(text="x" * 5001)]])
async def test_what_dingtalk_would_refuse_is_refused(bot: Bot, chain: Any) -> None:
    with pytest.raises(PlatformRefused) as refused:
        await bot.api.send_message("private", ANN, chain)
    assert refused.value.permanent


async def test_a_message_is_recalled_and_a_card_is_not(bot: Bot) -> None:
    sent = await bot.api.send_message("group", "cid==", [Plain(text="x")])
    await bot.api.delete_message("group", "cid==", str(sent.message_id))
    assert bot.simulator.sent() == []
    for message_id in ("card-1", "query-none"):
        with pytest.raises(PlatformRefused):
            await bot.api.delete_message("private", ANN, message_id)
