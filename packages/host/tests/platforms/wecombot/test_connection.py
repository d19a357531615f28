"""Tests the long connection: login, another client, greetings, cards, and files."""

import base64
from typing import Any

import pytest
from aiohttp import ClientSession

from parlour.core.platforms.port import AdapterStopped, FileContent, PlatformOffline, PlatformRefused
from parlour.testing.wecombot_simulator import WecomBotSimulator
from parlour.testing.wecombot_simulator.simulator import BOT, SECRET
from parlour_sdk.protocol.chain import File, Image, Plain, Platform, Voice

from .conftest import Bot

HELLO = base64.b64encode(b"hello").decode()


def buttons(*labels: str, **fields: Any) -> Platform:
    pressed = [{"label": label, "action_id": "approval", "value": f"{label} ab", **fields} for label in labels]
    return Platform(platform="wecombot", component_type="buttons", data={"buttons": pressed})


async def test_a_wrong_secret_is_tried_five_times_and_stops_the_bot(simulator: WecomBotSimulator, url: str) -> None:
    bot = Bot(simulator, url, secret="wrong")
    with pytest.raises(AdapterStopped, match="secret: WeCom does not accept it with this bot id"):
        async with bot.served():
            pass
    assert simulator.connections == 5
    assert any("refused the login: 853000" in problem for _, problem in bot.link.states)


@pytest.mark.parametrize("field", ["bot_id", "secret"])
def test_a_missing_field_is_named(simulator: WecomBotSimulator, field: str) -> None:
    with pytest.raises(AdapterStopped, match=f"{field}: "):
        Bot(simulator, "ws://127.0.0.1:9", **{field: ""})


async def test_another_client_is_named_and_not_fought(bot: Bot) -> None:
    async with ClientSession() as session, session.ws_connect(str(bot.link.config["ws_url"])) as other:
        login = {"bot_id": BOT, "secret": SECRET}
        await other.send_json({"cmd": "aibot_subscribe", "headers": {"req_id": "aibot_subscribe_1"}, "body": login})
        await bot.link.until(lambda: "another program has connected" in bot.link.now[1])
        assert "trying again in 300 s" in bot.link.now[1]
        assert bot.simulator.connections == 2
    with pytest.raises(PlatformOffline):
        await bot.api.send_message("private", "ann", [Plain(text="x")])


async def test_heartbeats_are_sent(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parlour.platforms.wecombot.connection.HEARTBEAT_SECONDS", 0.05)
    bot.simulator.server.cut()
    await bot.simulator.until(lambda: bot.simulator.made.count("ping") >= 3)
    assert bot.simulator.connections == 2


async def test_a_user_is_greeted_when_the_chat_is_opened(simulator: WecomBotSimulator, url: str) -> None:
    async with Bot(simulator, url, welcome_message="Welcome!").served():
        await simulator.report(simulator.event("ann", eventtype="enter_chat"))
        await simulator.until(lambda: simulator.texts("ann") == ["Welcome!"])


async def test_a_pressed_button_is_reported_and_the_card_is_closed(bot: Bot) -> None:
    await bot.hear("hello")
    chain: Any = [Plain(text="Delete it?\nAll of it."), buttons("Yes", "No")]
    sent = await bot.api.send_message("private", "ann", chain, "k")
    [card] = bot.simulator.sent("ann")
    assert card.text == "Delete it?\nAll of it."
    await bot.simulator.press(card, "No", "ann")
    await bot.simulator.until(lambda: bool(card.pressed))
    event: Any = (await bot.link.events(2))[-1].event
    assert (event.action_id, event.value, event.message_id) == ("approval", "No ab", sent.message_id)


async def test_files_are_uploaded_in_chunks(bot: Bot) -> None:
    await bot.hear("hello")
    data = bytes(range(256)) * 5000
    bot.link.files["art"] = FileContent(data, "报告.pdf", "application/pdf")
    gif, mp3 = Image(base64=HELLO, name="a.gif", mime_type="image/gif"), Voice(base64=HELLO, mime_type="audio/mpeg")
    await bot.api.send_message("private", "ann", [Plain(text="see"), File(artifact_id="art"), gif, mp3])
    assert [each.kind for each in bot.simulator.sent("ann")] == ["stream", "file", "file", "file"]
    kinds = list(bot.simulator.files.media.values())
    assert kinds[0] == ("file", "报告.pdf", data)
    assert bot.simulator.made.count("aibot_upload_media_chunk") == 5


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"aeskey": base64.b64encode(b"k" * 32).decode()}, "can't be decrypted"),
        ({"aeskey": "short"}, "the key of the file can't be used"),
        ({"url": "file:///etc/passwd"}, "its address can't be used"),
    ],
)
async def test_a_file_that_can_not_be_read_is_named(bot: Bot, changed: dict[str, str], problem: str) -> None:
    fields = {**bot.simulator.files.add("a.pdf", b"hello"), **changed}
    await bot.simulator.report(bot.simulator.message("ann", "file", **fields))
    [incoming] = await bot.link.events(1)
    assert problem in incoming.event.message_chain[1].text  # type: ignore[attr-defined]
    assert "aeskey" not in str(incoming.event.model_dump(mode="json"))


@pytest.mark.parametrize(
    ("chain", "reason"),
    [
        ([], "nothing in this message"),
        ([Plain(text="x"), buttons(*"1234567")], "6 buttons"),
        ([Plain(text="x"), buttons("x", value="v" * 1024)], "1024 bytes"),
        ([Plain(text="x" * 20_481)], "45002"),
    ],
)
async def test_what_wecom_would_refuse_is_explained(bot: Bot, chain: Any, reason: str) -> None:
    await bot.hear("hello")
    with pytest.raises(PlatformRefused, match=reason) as refused:
        await bot.api.send_message("private", "ann", chain)
    assert refused.value.permanent
    assert bot.simulator.sent("ann") == []
