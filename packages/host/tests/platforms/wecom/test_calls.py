"""Tests the calls of WeCom: the check of the address, genuine and forged messages, and what is added to messages."""

import json
import logging
import random
import time

import pytest

from parlour.core.journal import StorageFailed
from parlour.testing.errcode_simulator import CallbackCrypto, xml_of
from parlour.testing.wecom_simulator import WecomSimulator
from parlour.testing.wecom_simulator.simulator import CORP

from .conftest import Bot

MUTATED = 1000
UNREADABLE = ("", "{}", '{"encrypt":"x"}', "<xml></xml>", "[]", "\x00" * 300_000, xml_of({"a": "b"}))


async def test_the_check_of_the_address_gets_the_plain_content(bot: Bot) -> None:
    for number in range(20):  # some have a plus sign, which must survive the address
        assert await bot.simulator.calls.verify(f"echo {number}+/=") == (200, f"echo {number}+/=")


async def test_a_message_is_acknowledged_with_an_empty_answer(bot: Bot) -> None:
    call = await bot.simulator.calls.call(xml_of(bot.simulator.message("ann", "text", Content="你好 <b> & 👋")))
    assert call.answers == [(200, "")]
    [incoming] = bot.link.incoming
    event = incoming.event
    assert (event.chat_id, event.sender.nickname) == ("ann|1000002", "Ann")  # type: ignore[attr-defined]
    assert event.message_chain[1].text == "你好 <b> & 👋"  # type: ignore[attr-defined]


async def test_a_message_that_is_not_stored_is_called_again(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    receive, failures = bot.link.receive, [StorageFailed("disk", "the disk is full")]

    async def failing_once(*incoming: object, cursor: str | None = None) -> None:
        if failures:
            raise failures.pop()
        await receive(*incoming, cursor=cursor)  # type: ignore[arg-type]

    monkeypatch.setattr(bot.link, "receive", failing_once)
    call = await bot.simulator.calls.call(xml_of(bot.simulator.message("ann", "text", Content="again")))
    assert [status for status, _ in call.answers] == [503, 200]
    assert len(bot.link.incoming) == 1


def forged(bot: Bot, generator: random.Random) -> tuple[dict[str, str], str]:
    """Returns a genuine call with one change that a forger could make."""
    calls = bot.simulator.calls
    encrypted = calls.crypto.encrypt(xml_of(bot.simulator.message("ann", "text", Content="forged")))
    query, body = calls.query(encrypted), calls.body(encrypted, "")
    place = generator.randrange(len(encrypted))
    other = generator.choice("ABCdef012+/".replace(encrypted[place], ""))
    match generator.randrange(10):
        case 0:
            body = body.replace(encrypted, encrypted[:place] + other + encrypted[place + 1 :])
        case 1:
            query["msg_signature"] = query["msg_signature"][::-1]
        case 2:
            query.pop(generator.choice(("msg_signature", "timestamp", "nonce")))
        case 3:
            query["timestamp"] = str(int(time.time()) + generator.choice((-1, 1, 60)))
        case 4:
            old = str(int(time.time()) - 601)
            query |= {"timestamp": old, "msg_signature": calls.crypto.signature(old, query["nonce"], encrypted)}
        case 5:
            crypto = CallbackCrypto(calls.crypto.token, bot.simulator.secrets.encoding_aes_key, "ww-another")
            body = calls.body(other_encrypted := crypto.encrypt("<xml/>"), "")
            query = calls.query(other_encrypted)
        case 6:
            key = "k" + bot.simulator.secrets.encoding_aes_key[1:]
            body = calls.body(other_encrypted := CallbackCrypto("t", key, CORP).encrypt("<xml/>"), "")
            query = calls.query(other_encrypted)
        case 7:
            body = body[: generator.randrange(len(body) - 10)]
        case 8:
            body = f'<!DOCTYPE x [<!ENTITY a "{"a" * 100}">]>{body}'
        case _:
            body = generator.choice(
                ("", "{}", '{"encrypt":"x"}', "<xml></xml>", "[]", "\x00" * 300_000, xml_of({"a": "b"}))
            )
    return query, body


async def test_a_thousand_forged_calls_are_refused_without_a_line_in_the_log(
    bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    generator = random.Random(27)
    with caplog.at_level(logging.INFO):
        answers = {(await bot.simulator.calls.post(*forged(bot, generator)))[0] for _ in range(MUTATED)}
    assert answers == {401}
    assert [record for record in caplog.records if record.name.startswith("parlour")] == []
    assert bot.link.incoming == []


async def test_an_unreadable_message_that_is_genuine_is_reported(bot: Bot) -> None:
    for content in ("no xml", "<xml><a>", "<xml></xml>"):
        assert (await bot.simulator.calls.call(content)).answers == [(200, "")]
    assert [each.event.type for each in bot.link.incoming] == ["platform.wecom.malformed"] * 3


async def test_calls_before_the_bot_is_connected_are_asked_for_again(simulator: WecomSimulator, url: str) -> None:
    simulator.server.turned_away = 3
    async with Bot(simulator, url).served(state="connecting") as bot:
        call = await simulator.calls.call(xml_of(simulator.message("ann", "text", Content="early")))
        assert call.answers[-1] == (200, "")
        assert bot.link.states[-1] == ("connected", "")
    assert len(bot.link.incoming) == 1


async def test_files_are_fetched_and_a_missing_one_is_named(bot: Bot) -> None:
    media_id = bot.simulator.add_media("voice", "a.amr", b"#!AMR")
    for each in (media_id, "gone"):
        await bot.simulator.calls.call(xml_of(bot.simulator.message("ann", "voice", MediaId=each, Format="amr")))
    first, second = (each.event.message_chain[1] for each in bot.link.incoming)  # type: ignore[attr-defined]
    assert (first.type, first.base64, first.name) == ("Voice", "IyFBTVI=", "a.amr")
    assert "the file is not known any more" in second.text


async def test_the_response_code_of_a_card_is_not_part_of_the_event(bot: Bot) -> None:
    event = {
        **bot.simulator.message("ann", "event", Event="template_card_event", EventKey="x", TaskId=""),
        "ResponseCode": "the-code",
    }
    await bot.simulator.calls.call(xml_of(event))
    [incoming] = bot.link.incoming
    assert "the-code" not in json.dumps(incoming.event.model_dump(mode="json"))
