"""Tests the calls of WeChat: the check of the address, three modes of encryption, forged calls, and files."""

import logging
import random
import time
from typing import Any

import pytest

from parlour.core.journal import StorageFailed
from parlour.core.platforms.hooks import HookCall
from parlour.core.platforms.port import AdapterStopped
from parlour.testing.errcode_simulator import xml_of
from parlour.testing.officialaccount_simulator import OfficialAccountSimulator
from parlour.testing.officialaccount_simulator.calls import CallMode

from .conftest import ANN, Bot

MUTATED = 1000
SERVICE = {"mode": "service"}


async def test_the_check_of_the_address_gets_the_text_unchanged(bot: Bot) -> None:
    assert await bot.simulator.calls.verify("echo <b> +/=") == (200, "echo <b> +/=")
    bot.simulator.calls.crypto.token = "another"
    assert (await bot.simulator.calls.verify())[0] == 401


@pytest.mark.parametrize("mode", ["plain", "compatible", "safe"])
async def test_a_message_arrives_and_its_reply_has_the_same_form(
    simulator: OfficialAccountSimulator, url: str, mode: CallMode
) -> None:
    key = {"encoding_aes_key": ""} if mode == "plain" else {}
    simulator.calls.mode = mode
    async with Bot(simulator, url, **key, welcome_message="Welcome & 你好!").served() as bot:
        await simulator.ask(simulator.event(ANN, "subscribe", EventKey=""))
        assert simulator.texts(ANN) == ["Welcome & 你好!"]
        event: Any = (await bot.link.events(1))[0].event
        assert (event.type, event.data["user_id"]) == ("platform.officialaccount.subscribe", ANN)


@pytest.mark.parametrize(
    ("mode", "key", "problem"),
    [("plain", {}, "without encryption"), ("safe", {"encoding_aes_key": ""}, "with encryption")],
)
async def test_another_mode_of_encryption_is_refused_and_named(
    simulator: OfficialAccountSimulator, url: str, mode: CallMode, key: dict[str, str], problem: str
) -> None:
    simulator.calls.mode = mode
    async with Bot(simulator, url, **key, **SERVICE).served() as bot:
        call = await simulator.ask(simulator.message(ANN, "text", Content="x"))
        assert {status for status, _ in call.answers} == {401}
        assert problem in bot.link.now[1]
        assert bot.link.incoming == []


async def test_a_plain_call_can_not_be_repeated_with_another_content(
    simulator: OfficialAccountSimulator, url: str
) -> None:
    simulator.calls.mode = "plain"
    async with Bot(simulator, url, encoding_aes_key="", **SERVICE).served() as bot:
        query = simulator.calls.query("")
        first, forged = (xml_of(simulator.message(ANN, "text", Content=text)) for text in ("first", "forged"))
        statuses = [(await simulator.calls.post(query, body))[0] for body in (first, forged, first)]
        assert statuses == [200, 401, 200]
        assert {each.event.message_chain[1].text for each in bot.link.incoming} == {"first"}  # type: ignore[attr-defined]


async def test_a_message_that_is_not_stored_is_called_again(
    simulator: OfficialAccountSimulator, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Bot(simulator, url, **SERVICE).served() as bot:
        receive, failures = bot.link.receive, [StorageFailed("disk", "the disk is full")]

        async def failing_once(*incoming: Any, cursor: str | None = None) -> None:
            if failures:
                raise failures.pop()
            await receive(*incoming, cursor=cursor)

        monkeypatch.setattr(bot.link, "receive", failing_once)
        call = await simulator.ask(simulator.message(ANN, "text", Content="again"))
        assert [status for status, _ in call.answers] == [503, 200]
        assert len(bot.link.incoming) == 1


def forged(simulator: OfficialAccountSimulator, generator: random.Random, number: int) -> tuple[dict[str, str], str]:
    """Returns a genuine call with one change that a forger could make."""
    calls = simulator.calls
    message = xml_of(simulator.message(ANN, "text", Content=f"forged {number}"))
    encrypted = calls.crypto.encrypt(message)
    query, body = calls.query(encrypted), calls.body(encrypted, message)
    is_plain = calls.mode == "plain"
    match generator.randrange(6):
        case 0:
            name = "signature" if is_plain else "msg_signature"
            query[name] = query[name][::-1]
        case 1:
            query.pop("signature" if is_plain else "msg_signature")
            if not is_plain:
                query.pop("signature")
        case 2:
            query["timestamp"] = str(int(time.time()) + generator.choice((-1, 1, 60)))
        case 3:
            query["nonce"] += "x"
        case 4:
            old = str(int(time.time()) - 601)
            more = () if is_plain else (encrypted,)
            query |= {"timestamp": old, "signature": calls.crypto.signature(old, query["nonce"])}
            query |= {} if is_plain else {"msg_signature": calls.crypto.signature(old, query["nonce"], *more)}
        case _ if is_plain:
            query["signature"] = calls.crypto.signature(query["timestamp"], query["nonce"], "another")
        case _:
            place = generator.randrange(len(encrypted) - 1)
            other = generator.choice("ABCdef012+/".replace(encrypted[place], ""))
            body = body.replace(encrypted, encrypted[:place] + other + encrypted[place + 1 :])
    return query, body


@pytest.mark.parametrize("mode", ["plain", "safe"])
async def test_a_thousand_forged_calls_are_refused_without_a_line_in_the_log(
    simulator: OfficialAccountSimulator, url: str, mode: CallMode, caplog: pytest.LogCaptureFixture
) -> None:
    key = {"encoding_aes_key": ""} if mode == "plain" else {}
    simulator.calls.mode = mode
    generator = random.Random(27)
    async with Bot(simulator, url, **key, **SERVICE).served() as bot:
        with caplog.at_level(logging.INFO):
            for number in range(MUTATED):
                query, body = forged(simulator, generator, number)
                assert (await bot.adapter.hook(HookCall(body.encode(), query=query))).status == 401
        assert bot.link.incoming == []
    assert [record for record in caplog.records if record.name.startswith("parlour")] == []


async def test_files_are_fetched_also_from_the_address_of_a_video(
    simulator: OfficialAccountSimulator, url: str
) -> None:
    simulator.add_media("voice", "a.amr", b"speech", "V")
    simulator.add_media("video", "a.mp4", b"pictures", "M")
    async with Bot(simulator, url, **SERVICE).served() as bot:
        await simulator.ask(simulator.message(ANN, "voice", MediaId="V", Format="amr", Recognition="你好"))
        await simulator.ask(simulator.message(ANN, "video", MediaId="M", ThumbMediaId="T"))
        voice, video = ([*each.event.message_chain[1:]] for each in bot.link.incoming)  # type: ignore[attr-defined]
    assert [part.type for part in voice] == ["Voice", "Plain"]
    assert (voice[0].name, voice[1].text, video[0].mime_type, video[0].size) == ("a.amr", "你好", "video/mp4", 8)


async def test_an_address_that_is_not_allowed_is_named(simulator: OfficialAccountSimulator, url: str) -> None:
    simulator.allowed_address = False
    bot = Bot(simulator, url)
    async with bot.served("connecting"):
        await bot.link.until(lambda: "203.0.113.7" in bot.link.now[1])
        simulator.allowed_address = True
        await bot.link.until(lambda: bot.link.now[0] == "connected")


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"app_id": "wx-wrong", "encoding_aes_key": ""}, "app_id: WeChat does not know it"),
        ({"app_secret": "wrong"}, "app_secret: WeChat does not accept it"),
        ({"token": " "}, "token: the token is needed"),
        ({"encoding_aes_key": "short"}, "must have 43 letters"),
    ],
)
async def test_wrong_secrets_stop_the_bot(
    simulator: OfficialAccountSimulator, url: str, config: dict[str, str], reason: str
) -> None:
    with pytest.raises(AdapterStopped, match=reason):
        async with Bot(simulator, url, **config).served():
            pass
