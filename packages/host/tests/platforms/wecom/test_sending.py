"""Tests what is sent to WeCom: texts, files, links, cards with buttons, tokens, and refusals in words."""

import base64
from typing import Any

import pytest

from parlour.core.platforms.port import AdapterStopped, FileContent, PlatformRefused
from parlour.testing.wecom_simulator import WecomSimulator
from parlour_sdk.protocol.chain import File, Image, Plain, Platform, Voice

from .conftest import CHAT, Bot

HELLO = base64.b64encode(b"hello").decode()


def buttons(*labels: str, **fields: Any) -> Platform:
    pressed = [{"label": label, "action_id": "approval", "value": f"{label} ab", **fields} for label in labels]
    return Platform(platform="wecom", component_type="buttons", data={"buttons": pressed})


async def test_files_of_other_types_are_sent_as_files(bot: Bot) -> None:
    bot.link.files["art"] = FileContent(b"content", "报告.pdf", "application/pdf")
    gif, mp3 = Image(base64=HELLO, name="a.gif", mime_type="image/gif"), Voice(base64=HELLO, mime_type="audio/mpeg")
    await bot.api.send_message("private", CHAT, [Plain(text="see"), File(artifact_id="art"), gif, mp3])
    assert [each.kind for each in bot.simulator.sent()] == ["text", "file", "file", "file"]
    assert [name for _, name, _ in bot.simulator.media.values()] == ["报告.pdf", "a.gif", "voice.mp3"]


async def test_another_attempt_continues_behind_the_parts_that_were_sent(bot: Bot) -> None:
    chain = [Plain(text="one"), File(base64=HELLO, name="a.pdf"), Plain(text="two")]
    bot.simulator.faults.refuse("media/upload", 40004)
    with pytest.raises(PlatformRefused):
        await bot.api.send_message("private", CHAT, chain, "key")
    await bot.api.send_message("private", CHAT, chain, "key")
    assert [each.kind for each in bot.simulator.sent()] == ["text", "file", "text"]


async def test_a_pressed_button_is_reported_and_the_card_is_closed(bot: Bot) -> None:
    sent = await bot.api.send_message(
        "private", CHAT, [Plain(text="Delete it?\nAll of it."), buttons("Yes", "No")], "k"
    )
    [card] = bot.simulator.sent()
    assert card.text == "Delete it?\nAll of it."
    await bot.simulator.press(card, "No")
    await bot.simulator.until(lambda: bool(card.pressed))
    [incoming] = bot.link.incoming
    event: Any = incoming.event
    assert (event.action_id, event.value, event.message_id) == ("approval", "No ab", sent.message_id)


async def test_a_long_question_precedes_its_card(bot: Bot) -> None:
    sent = await bot.api.send_message("private", CHAT, [Plain(text="why " * 100), buttons("Yes")])
    text, card = bot.simulator.sent()
    assert sent.message_id == f"card-{card.content['task_id']}"
    assert (text.kind, card.kind, text.text) == ("text", "template_card", "why " * 100)


async def test_a_card_is_recalled_by_the_id_of_its_message(bot: Bot) -> None:
    sent = await bot.api.send_message("private", CHAT, [Plain(text="sure?"), buttons("Yes")])
    await bot.api.delete_message("private", CHAT, str(sent.message_id))
    assert bot.simulator.sent() == []
    with pytest.raises(PlatformRefused, match="before the last restart"):
        await bot.api.delete_message("private", CHAT, "card-unknown")


async def test_an_expired_token_is_fetched_again_and_the_call_repeated(bot: Bot) -> None:
    for _ in range(2):
        bot.simulator.expire_tokens()
        await bot.api.send_message("private", CHAT, [Plain(text="hello")])
    assert len(bot.simulator.sent()) == 2
    assert bot.simulator.made.count("gettoken") == 3


async def test_the_address_that_is_not_allowed_is_named(bot: Bot) -> None:
    bot.simulator.allowed_address = False
    with pytest.raises(PlatformRefused, match=r"the address 203\.0\.113\.7; add it to the allowed IP") as refused:
        await bot.api.send_message("private", CHAT, [Plain(text="hello")])
    assert not refused.value.permanent


@pytest.mark.parametrize(
    ("chain", "reason"),
    [
        ([], "nothing in this message"),
        ([Plain(text="x" * 2049)], "content size"),
        ([Plain(text="x"), buttons(*"1234567")], "6 buttons"),
        ([Plain(text="x"), buttons("x", value="v" * 1024)], "1024 bytes"),
        ([File(base64="no!", name="a")], "not base64"),
        ([File(path="/etc/passwd")], "path of the Host's machine"),
        ([File(base64=base64.b64encode(b"x" * (20 * 2**20 + 1)).decode(), name="a")], "takes 20 MiB"),
        ([Platform(platform="wecom", component_type="link", data={"Title": "x"})], "needs a Title and a Url"),
    ],
)
async def test_what_wecom_would_refuse_is_explained(bot: Bot, chain: Any, reason: str) -> None:
    with pytest.raises(PlatformRefused, match=reason) as refused:
        await bot.api.send_message("private", CHAT, chain)
    assert refused.value.permanent
    assert bot.simulator.sent() == []


@pytest.mark.parametrize("target", ["ann", "ann|agent", "a|b|c", "nobody|1000002"])
async def test_a_chat_that_wecom_does_not_have_is_refused(bot: Bot, target: str) -> None:
    with pytest.raises(PlatformRefused):
        await bot.api.send_message("private", target, [Plain(text="x")])


async def test_the_limit_of_calls_waits(bot: Bot) -> None:
    bot.simulator.faults.too_many("message/send", 7)
    with pytest.raises(PlatformRefused) as refused:
        await bot.api.send_message("private", CHAT, [Plain(text="x")])
    assert (refused.value.retry_after, refused.value.permanent) == (7, False)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"secret": "wrong"}, "secret: WeCom does not accept it"),
        ({"corpid": "ww-wrong"}, "corpid: WeCom does not know it"),
    ],
)
async def test_wrong_secrets_stop_the_bot(simulator: WecomSimulator, url: str, config: Any, reason: str) -> None:
    with pytest.raises(AdapterStopped, match=reason):
        async with Bot(simulator, url, **config).served():
            pass


@pytest.mark.parametrize("field", ["corpid", "secret", "token", "encoding_aes_key"])
def test_a_missing_field_is_named(simulator: WecomSimulator, field: str) -> None:
    with pytest.raises(AdapterStopped, match=f"{field}: "):
        Bot(simulator, "http://127.0.0.1:9", **{field: ""})
