"""Tests what is sent to customers: files, menus, keys that make a message appear once, and refusals in words."""

import base64
from typing import Any

import pytest

from parlour.core.model.ids import EventId
from parlour.core.model.reply_allowance import ReplyHandle
from parlour.core.platforms.port import AdapterStopped, FileContent, PlatformRefused, ReplyHandleRejected
from parlour.testing.wecomcs_simulator import WecomCsSimulator
from parlour.testing.wecomcs_simulator.simulator import ACCOUNT
from parlour_sdk.protocol.chain import File, Plain, Platform, Voice

from .conftest import CHAT, Bot

HELLO = base64.b64encode(b"hello").decode()


def buttons(*labels: str, **fields: Any) -> Platform:
    pressed = [{"label": label, "action_id": "approval", "value": f"{label} ab", **fields} for label in labels]
    return Platform(platform="wecomcs", component_type="buttons", data={"buttons": pressed})


@pytest.fixture
async def written(bot: Bot) -> Bot:
    """Returns a bot to which the customer has written."""
    await bot.simulator.say("hello", "wmAnn")
    await bot.link.events(1)
    return bot


async def test_files_of_other_types_are_sent_as_files(written: Bot) -> None:
    written.link.files["art"] = FileContent(b"content", "报告.pdf", "application/pdf")
    mp3 = Voice(base64=HELLO, mime_type="audio/mpeg")
    await written.api.send_message("private", CHAT, [Plain(text="see"), File(artifact_id="art"), mp3])
    assert [each.kind for each in written.simulator.sent()] == ["text", "file", "file"]


async def test_a_message_with_the_same_key_is_shown_once(written: Bot) -> None:
    results = [await written.api.send_message("private", CHAT, [Plain(text="once")], "key") for _ in range(3)]
    assert written.simulator.texts() == ["once"]
    assert len({each.message_id for each in results}) == 1


async def test_a_chosen_item_of_a_menu_names_its_message(written: Bot) -> None:
    sent = await written.api.send_message("private", CHAT, [Plain(text="Delete it?"), buttons("Yes", "No")], "k")
    [menu] = written.simulator.sent()
    assert menu.text == "Delete it?"
    await written.simulator.choose(menu, "No")
    event: Any = (await written.link.events(2))[-1].event
    assert (event.type, event.action_id, event.value) == ("interaction.received", "approval", "No ab")
    assert event.message_id == sent.message_id


async def test_a_long_question_precedes_its_menu(written: Bot) -> None:
    sent = await written.api.send_message("private", CHAT, [Plain(text="why " * 300), buttons("Yes")])
    text, menu = written.simulator.sent()
    assert sent.message_id == menu.id
    assert (text.kind, menu.kind, text.text) == ("text", "msgmenu", "why " * 300)


async def test_a_reply_beyond_the_window_is_rejected_in_words(written: Bot) -> None:
    reply = ReplyHandle("kf1", 6, EventId("e"))
    for number in range(5):
        await written.api.send_reply(reply, "private", CHAT, [Plain(text=f"{number}")], f"k{number}")
    with pytest.raises(ReplyHandleRejected, match="five replies within 48 hours"):
        await written.api.send_reply(reply, "private", CHAT, [Plain(text="sixth")], "k6")
    await written.simulator.say("again", "wmAnn")
    await written.api.send_reply(reply, "private", CHAT, [Plain(text="sixth")], "k6")
    assert len(written.simulator.sent()) == 6


async def test_a_conversation_of_the_staff_is_named(written: Bot) -> None:
    written.simulator.owned_by_staff.add(CHAT)
    with pytest.raises(PlatformRefused, match="the staff has taken over this conversation") as refused:
        await written.api.send_message("private", CHAT, [Plain(text="x")])
    assert refused.value.permanent


async def test_each_message_of_a_customer_opens_a_window(written: Bot) -> None:
    allowance = written.link.incoming[0].reply_allowance
    assert allowance is not None
    assert (allowance.count, allowance.then, allowance.scope, allowance.repeatable) == (5, "hold", "chat", True)
    assert allowance.until == written.link.incoming[0].event.timestamp + 48 * 3600 * 1000


@pytest.mark.parametrize(
    ("chain", "reason"),
    [
        ([], "nothing in this message"),
        ([Plain(text="x" * 2049)], "content size"),
        ([Plain(text="x"), buttons(*"12345678901")], "10 buttons"),
        ([Plain(text="x"), buttons("x", value="v" * 100)], "have at most 95 bytes"),
        ([Platform(platform="wecomcs", component_type="location", data={})], "needs latitude and longitude"),
    ],
)
async def test_what_wecom_would_refuse_is_explained(written: Bot, chain: Any, reason: str) -> None:
    with pytest.raises(PlatformRefused, match=reason) as refused:
        await written.api.send_message("private", CHAT, chain)
    assert refused.value.permanent
    assert written.simulator.sent() == []


@pytest.mark.parametrize("target", ["wmAnn", "a|b|c", f"wmNobody|{ACCOUNT}", "wmAnn|wkNone"])
async def test_a_chat_that_does_not_exist_is_refused(written: Bot, target: str) -> None:
    with pytest.raises(PlatformRefused):
        await written.api.send_message("private", target, [Plain(text="x")])


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"secret": "wrong"}, "secret: WeCom does not accept it"),
        ({"corpid": "ww-wrong"}, "corpid: WeCom does not know it"),
    ],
)
async def test_wrong_secrets_stop_the_bot(simulator: WecomCsSimulator, url: str, config: Any, reason: str) -> None:
    with pytest.raises(AdapterStopped, match=reason):
        async with Bot(simulator, url, **config).served():
            pass
