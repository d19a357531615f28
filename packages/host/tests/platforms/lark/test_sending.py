"""Tests what is sent to Feishu: markup, mentions, files, threads, keys, and refusals in words."""

import base64
import json
from typing import Any

import pytest

from parlour.core.platforms.port import FileContent, PlatformRefused, PlatformUncertain
from parlour.testing.lark_simulator import LarkSimulator
from parlour_sdk.protocol.chain import At, AtAll, File, Image, Plain, Platform, Quote, Video, Voice

from .conftest import ANN, GROUP, Bot

HELLO = base64.b64encode(b"hello").decode()


def content(bot: Bot, place: int = 0) -> Any:
    return json.loads(bot.simulator.sent()[place].payload["body"]["content"])


async def test_only_mentions_of_the_chain_notify(bot: Bot) -> None:
    chain = [At(target=ANN, display="Ann"), Plain(text=' <at user_id="all"></at> '), AtAll()]
    await bot.api.send_message("group", GROUP, chain)
    [[element]] = content(bot)["zh_cn"]["content"]
    assert element["text"] == '<at user_id="ou_ann">Ann</at> &#60;at user_id="all">&#60;/at> <at user_id="all"></at>'


async def test_text_without_markup_is_a_plain_text(bot: Bot) -> None:
    await bot.api.send_message("private", ANN, [Plain(text="hello 你好")])
    assert content(bot) == {"text": "hello 你好"}


async def test_files_are_uploaded_as_what_the_service_can_show(bot: Bot) -> None:
    bot.link.files["art"] = FileContent(b"content", "report.pdf", "application/pdf")
    chain = [
        File(artifact_id="art"),
        Image(base64=HELLO),
        Voice(base64=HELLO, mime_type="audio/ogg", duration=2.5),
        Voice(base64=HELLO, mime_type="audio/mpeg"),
        Video(base64=HELLO, mime_type="video/mp4"),
    ]
    await bot.api.send_message("group", GROUP, chain)
    kinds = [each.payload["msg_type"] for each in bot.simulator.sent()]
    assert kinds == ["file", "image", "audio", "file", "media"]
    assert [each.file for each in bot.simulator.sent()] == [b"content", *([b"hello"] * 4)]


async def test_a_message_in_a_topic_and_an_answer_to_a_message_name_it(bot: Bot) -> None:
    question = await bot.simulator.say("question", ANN, GROUP, thread_id="omt_1")
    [incoming] = await bot.link.events(1)
    assert incoming.thread_id == question["message_id"]
    await bot.api.send_message("group", GROUP, [Plain(text="in the topic")], thread_id=incoming.thread_id)
    await bot.api.send_message("group", GROUP, [Quote(id=question["message_id"]), Plain(text="an answer")])
    first, second = (each.payload for each in bot.simulator.sent())
    assert (first["thread_id"], first["parent_id"]) == ("omt_1", question["message_id"])
    assert second["parent_id"] == question["message_id"]


async def test_a_message_whose_answer_is_lost_is_shown_once_under_its_key(bot: Bot) -> None:
    bot.simulator.faults.cut("message_send")
    with pytest.raises(PlatformUncertain):
        await bot.api.send_message("group", GROUP, [Plain(text="once")], "a-key")
    await bot.api.send_message("group", GROUP, [Plain(text="once")], "a-key")
    assert bot.simulator.texts(GROUP) == ["once"]


async def test_a_quoted_message_and_a_file_come_with_their_content(bot: Bot) -> None:
    question = bot.simulator.world.write(GROUP, ANN, "text", {"text": "the question"})
    bot.simulator.world.files["img_1"] = ("a.png", b"hello")
    await bot.simulator.write("image", {"image_key": "img_1"}, ANN, GROUP, parent_id=question["message_id"])
    [incoming] = await bot.link.events(1)
    _, quote, image = incoming.event.message_chain  # type: ignore[attr-defined]
    assert (quote.id, quote.sender, quote.origin) == (question["message_id"], ANN, [Plain(text="the question")])
    assert image.base64 == HELLO


async def test_a_file_that_the_service_does_not_give_out_is_named(bot: Bot) -> None:
    await bot.simulator.write("file", {"file_key": "file_404", "file_name": "a.pdf"}, ANN, GROUP)
    [incoming] = await bot.link.events(1)
    assert incoming.event.message_chain[-1].text.startswith("[a.pdf: Lark refused a file")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("chain", "reason"),
    [
        ([], "nothing in this message"),
        ([Plain(text="`x`" + "x" * 31_000)], "longer than Lark takes"),
        ([Platform(platform="lark", component_type="card", data={"no": 1})], "can't show this card"),
        ([File(artifact_id="empty")], "no empty files"),
        ([File(base64="no!", name="a")], "not base64"),
        ([File(path="/etc/passwd")], "path of the Host's machine"),
    ],
)
async def test_what_the_service_would_refuse_is_explained(bot: Bot, chain: Any, reason: str) -> None:
    bot.link.files["empty"] = FileContent(b"", "a.pdf", "application/pdf")
    with pytest.raises(PlatformRefused, match=reason) as refused:
        await bot.api.send_message("group", GROUP, chain)
    assert refused.value.permanent


async def test_a_rate_limit_names_the_time(bot: Bot) -> None:
    for number in range(5):
        await bot.api.send_message("group", GROUP, [Plain(text=str(number))])
    with pytest.raises(PlatformRefused) as refused:
        await bot.api.send_message("group", GROUP, [Plain(text="too many")])
    assert not refused.value.permanent
    assert refused.value.retry_after is not None
    assert 0 < refused.value.retry_after <= 1


async def test_ids_in_a_path_never_leave_it(bot: Bot) -> None:
    with pytest.raises(PlatformRefused):
        await bot.api.get_group_info("oc_talk/../../contact/v3/users/ou_ann")
    assert "user_get" not in bot.simulator.made


async def test_a_group_to_which_the_bot_is_added_is_greeted_once(simulator: LarkSimulator, url: str) -> None:
    added = {"chat_id": GROUP, "operator_id": {"open_id": ANN}, "name": "talk"}
    async with Bot(simulator, url, bot_added_welcome="Hello, all!").served() as bot:
        for _ in range(2):
            await simulator.report("im.chat.member.bot.added_v1", added)
        await simulator.until(lambda: not simulator.connection.waiting)
    assert len(bot.link.incoming) == 2
    assert simulator.texts(GROUP) == ["Hello, all!"]
