"""Tests what the adapter receives and sends: positions, files, windows, typing, and ended sessions."""

import base64
import json

import pytest

from parlour.core.model.ids import EventId
from parlour.core.model.reply_allowance import ReplyHandle
from parlour.core.platforms.port import AdapterStopped, PlatformRefused, ReplyHandleRejected
from parlour.testing.wechat_simulator import WechatSimulator
from parlour_sdk.protocol.chain import File, Image, Plain, Unknown

from .conftest import ANN, Bot

KEY = bytes(range(16))
PDF = File(base64=base64.b64encode(b"%PDF").decode(), name="a.pdf", mime_type="application/pdf")


def picture(simulator: WechatSimulator, content: bytes = b"\x89PNG", **fields: str) -> dict[str, object]:
    media = simulator.files.add(content)
    return {"type": 2, "image_item": {"media": {**media, **fields}}}


async def open_window(bot: Bot) -> ReplyHandle:
    await bot.simulator.say("hello", ANN)
    incoming = (await bot.link.events(1))[-1]
    assert incoming.reply_allowance is not None
    return ReplyHandle(incoming.reply_allowance.handle, 1, EventId("event"))


async def test_a_restarted_adapter_continues_behind_the_stored_position(
    simulator: WechatSimulator, gateway: str
) -> None:
    async with Bot(simulator, gateway).served() as first:
        await simulator.say("one", ANN)
        await first.link.events(1)
        cursor = first.link.stored_cursor
    assert json.loads(cursor or "") == {"position": "p1"}
    await simulator.say("two", ANN)
    async with Bot(simulator, gateway, cursor).served() as second:
        await second.link.events(1)
        assert [chain[0].text for chain in second.chains] == ["two"]


async def test_a_message_that_is_reported_again_keeps_its_id(simulator: WechatSimulator, gateway: str) -> None:
    await simulator.say("one", ANN)
    ids = []
    for _ in range(2):
        async with Bot(simulator, gateway).served() as bot:
            ids.append((await bot.link.events(1))[0].event.event_id)
    assert ids[0] == ids[1]


async def test_events_carry_neither_context_token_nor_keys_and_large_ids_are_text(bot: Bot) -> None:
    await bot.simulator.report(bot.simulator.message(ANN, picture(bot.simulator)))
    [incoming] = await bot.link.events(1)
    native = json.dumps(incoming.event.native)
    context = next(iter(bot.simulator.contexts))
    assert context not in native
    assert "aes_key" not in native
    assert incoming.event.native is not None
    assert incoming.event.native["message_id"].isdigit()


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        (base64.b64encode(KEY).decode(), ""),
        (base64.b64encode(KEY.hex().encode()).decode(), ""),
        (base64.b64encode(b"short").decode(), "wrong length"),
        ("%%%", "can't be read"),
        (base64.b64encode(bytes(16)).decode(), "another key"),
    ],
)
async def test_files_are_decrypted_with_their_key_or_named_with_the_reason(bot: Bot, key: str, problem: str) -> None:
    await bot.simulator.report(bot.simulator.message(ANN, picture(bot.simulator, aes_key=key)))
    await bot.link.events(1)
    [[shown]] = bot.chains
    if problem:
        assert isinstance(shown, Unknown)
        assert problem in shown.text
    else:
        assert isinstance(shown, Image)
        assert base64.b64decode(shown.base64 or "") == b"\x89PNG"


async def test_a_file_without_a_key_is_plain(bot: Bot) -> None:
    bot.simulator.files.stored["PLAIN"] = b"\xff\xd8\xffjpeg"
    item = {"type": 2, "image_item": {"media": {"encrypt_query_param": "PLAIN"}}}
    await bot.simulator.report(bot.simulator.message(ANN, item))
    await bot.link.events(1)
    [[shown]] = bot.chains
    assert (base64.b64decode(shown.base64), shown.mime_type) == (b"\xff\xd8\xffjpeg", "image/jpeg")


async def test_files_at_whole_addresses_go_both_ways(bot: Bot) -> None:
    bot.simulator.files.whole_addresses = True
    await bot.simulator.report(bot.simulator.message(ANN, picture(bot.simulator)))
    await bot.link.events(1)
    assert isinstance(bot.chains[0][0], Image)
    await bot.api.send_message("private", ANN, [PDF])
    [sent] = bot.simulator.sent(ANN)
    assert bot.simulator.files.content(sent.item["file_item"]["media"]) == b"%PDF"


async def test_a_file_at_a_foreign_address_is_not_fetched(bot: Bot, simulator: WechatSimulator) -> None:
    other = WechatSimulator()
    async with other.listening() as url:
        other.files.add(b"secret of another server", "X")
        foreign = url.replace("127.0.0.1", "localhost")
        media = {"full_url": f"{foreign}/c2c/download?encrypted_query_param=X", "aes_key": ""}
        await simulator.report(simulator.message(ANN, {"type": 2, "image_item": {"media": media}}))
        await bot.link.events(1)
        assert isinstance(bot.chains[0][0], Unknown)
        assert other.made == []


async def test_an_upload_is_tried_again_after_a_server_error_and_not_after_a_refusal(bot: Bot) -> None:
    handle = await open_window(bot)
    bot.simulator.faults.refuse("upload", 0, "busy", times=2, status=500)
    await bot.api.send_reply(handle, "private", ANN, [PDF])
    assert bot.simulator.made.count("upload") == 3
    bot.simulator.faults.refuse("upload", 0, "too large", status=413)
    with pytest.raises(PlatformRefused, match="too large"):
        await bot.api.send_reply(handle, "private", ANN, [PDF])
    assert bot.simulator.made.count("upload") == 4


async def test_the_eleventh_reply_is_refused_for_its_window(bot: Bot) -> None:
    handle = await open_window(bot)
    for number in range(bot.simulator.window_messages):
        await bot.api.send_reply(handle, "private", ANN, [Plain(text=str(number))])
    with pytest.raises(ReplyHandleRejected, match="must write to the bot again"):
        await bot.api.send_reply(handle, "private", ANN, [Plain(text="more")])
    assert len(bot.simulator.sent(ANN)) == bot.simulator.window_messages


async def test_a_message_to_a_user_who_never_wrote_is_refused_without_a_call(bot: Bot) -> None:
    with pytest.raises(PlatformRefused, match="must write to the bot again"):
        await bot.api.send_message("private", "o9stranger@im.wechat", [Plain(text="hi")])
    assert "sendmessage" not in bot.simulator.made


async def test_an_empty_answer_of_an_older_server_counts_as_sent(bot: Bot) -> None:
    handle = await open_window(bot)
    bot.simulator.answers_are_empty = True
    result = await bot.api.send_reply(handle, "private", ANN, [Plain(text="hi")], "key")
    assert result.message_id == bot.simulator.sent(ANN)[0].client_id


async def test_a_ticket_for_typing_is_fetched_once(bot: Bot) -> None:
    await open_window(bot)
    for _ in range(3):
        await bot.api.send_typing("private", ANN)
    assert bot.simulator.typing == [ANN] * 3
    assert bot.simulator.made.count("getconfig") == 1


async def test_a_refused_ticket_is_not_asked_for_at_once(bot: Bot) -> None:
    await open_window(bot)
    bot.simulator.faults.refuse("getconfig", -1)
    for _ in range(3):
        await bot.api.send_typing("private", ANN)
    assert (bot.simulator.typing, bot.simulator.made.count("getconfig")) == ([], 1)


async def test_an_ended_session_stops_the_bot_with_what_to_do(bot: Bot) -> None:
    bot.simulator.tokens.clear()
    bot.simulator.server.cut()
    assert bot.work is not None
    with pytest.raises(AdapterStopped, match="log in again with the QR code"):
        await bot.work


async def test_a_send_in_an_ended_session_may_be_repeated_after_the_login(bot: Bot) -> None:
    handle = await open_window(bot)
    bot.simulator.faults.refuse("sendmessage", -14, "session timeout")
    with pytest.raises(PlatformRefused) as refused:
        await bot.api.send_reply(handle, "private", ANN, [Plain(text="hi")])
    assert not refused.value.permanent
