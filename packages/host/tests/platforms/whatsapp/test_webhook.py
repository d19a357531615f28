"""Tests the calls of WhatsApp: verification, signatures, acknowledgement, order, and what an operator reads."""

import asyncio
from typing import Any

import pytest
from aiohttp import ClientSession

from parlour.core.journal import StorageFailed
from parlour.core.platforms.port import AdapterStopped, IncomingEvent
from parlour.platforms.whatsapp.configuration import problems
from parlour.testing.memory_link import MemoryLink
from parlour.testing.whatsapp_simulator import WhatsAppSimulator
from parlour.testing.whatsapp_simulator.simulator import call_body
from parlour.testing.whatsapp_simulator.world import NUMBER_ID

from .conftest import Bot

DAY_MS = 24 * 3600 * 1000


async def test_the_address_is_verified_with_the_right_token_only(bot: Bot) -> None:
    assert await bot.simulator.verify("another") == (403, "the token is missing or wrong")
    assert "verify_token" in bot.link.now[1]
    assert await bot.simulator.verify() == (200, "1158201444")
    assert bot.link.now == ("connected", "")


async def test_calls_with_a_wrong_signature_are_refused_and_the_first_ones_are_explained(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    assert await bot.simulator.call_bot(b"{}", secret="another") == 401
    assert "app_secret" in bot.link.now[1]
    await bot.simulator.say("hi", ann)
    assert bot.link.now == ("connected", "")
    assert await bot.simulator.call_bot(b"{}", secret="another") == 401
    async with ClientSession() as session, session.post(bot.simulator.request_url, data=b"{}") as response:
        assert response.status == 401
    assert bot.link.now == ("connected", "")
    assert len(bot.link.incoming) == 1


@pytest.mark.parametrize("body", [b"[", b"[]", b'{"entry":7}', b'{"entry":[null,{"changes":[7,{"value":[]}]}]}', b"{}"])
async def test_a_signed_call_without_readable_reports_is_acknowledged(bot: Bot, body: bytes) -> None:
    assert await bot.simulator.call_bot(body) == 200
    assert all(each.event.type == "platform.whatsapp.malformed" for each in bot.link.incoming)


async def test_messages_to_another_number_of_the_app_are_left_to_its_bot(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    value = bot.simulator.value([ann], messages=[bot.simulator.message(ann, type="text", text={"body": "x"})])
    value["metadata"]["phone_number_id"] = "404"
    assert await bot.simulator.call_bot(call_body(value)) == 200
    assert bot.link.incoming == []


async def test_a_failed_store_is_redelivered_with_the_same_id(
    simulator: WhatsAppSimulator, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures, receive = [True], MemoryLink.receive

    async def receive_later(link: MemoryLink, *incoming: IncomingEvent, cursor: str | None = None) -> None:
        if failures:
            failures.pop()
            raise StorageFailed("storage_failed", "the disk is full")
        await receive(link, *incoming, cursor=cursor)

    monkeypatch.setattr(MemoryLink, "receive", receive_later)
    ann = simulator.world.add_user("Ann")
    async with Bot(simulator, url).served() as bot:
        message = await simulator.say("hi", ann)
        [incoming] = await bot.link.events(1)
    assert [status for status, _ in simulator.responses] == [503, 200]
    assert incoming.event.event_id == message["id"]


async def test_the_messages_of_one_call_keep_their_order(bot: Bot) -> None:
    ann, bob = bot.simulator.world.add_user("Ann"), bot.simulator.world.add_user("Bob")
    messages = [
        bot.simulator.message(each, type="text", text={"body": str(n)}) for n in range(5) for each in (ann, bob)
    ]
    assert await bot.simulator.call_bot(call_body(bot.simulator.value([ann, bob], messages=messages))) == 200
    assert [each.event.chat_id for each in bot.link.incoming].count(ann) == 5  # type: ignore[attr-defined]
    for user in (ann, bob):
        texts = [each.event.message_chain[1].text for each in bot.link.incoming if each.event.chat_id == user]  # type: ignore[attr-defined]
        assert texts == ["0", "1", "2", "3", "4"]


async def test_the_window_ends_a_day_after_the_message_and_not_after_its_delivery(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    message = bot.simulator.message(ann, type="text", text={"body": "old"})
    await bot.simulator.post({**message, "timestamp": "1779012345"})
    [incoming] = await bot.link.events(1)
    allowance = incoming.reply_allowance
    assert allowance is not None
    assert 1_779_012_345_000 + DAY_MS - 120_000 < allowance.until < 1_779_012_345_000 + DAY_MS
    assert (allowance.count, allowance.then, allowance.scope) == (0, "hold", "chat")


async def test_a_failed_message_is_an_event_and_a_sentence_in_the_status(bot: Bot) -> None:
    bot.simulator.world.add_user("Ann", "491511")
    await bot.api.send_message("private", "491511", _text("too late"), "key")
    [incoming] = await bot.link.events(1)
    assert incoming.event.type == "platform.whatsapp.message_status"
    assert (incoming.event.data["code"], incoming.event.data["chat_id"]) == (131047, "491511")  # type: ignore[attr-defined]
    assert "24 hours" in bot.link.now[1]
    assert bot.link.now[0] == "connected"


@pytest.mark.parametrize("wants_reports", [False, True])
async def test_delivery_is_reported_only_if_that_is_wanted(
    simulator: WhatsAppSimulator, url: str, wants_reports: bool
) -> None:
    ann = simulator.world.add_user("Ann")
    async with Bot(simulator, url, report_delivery=wants_reports).served() as bot:
        await simulator.say("hi", ann)
        await bot.api.send_message("private", ann, _text("there"), "key")
        await simulator.until(lambda: len(simulator.responses) == 2 and not simulator.waiting)
        types = [each.event.type for each in bot.link.incoming]
    assert types == ["message.received", *["platform.whatsapp.message_status"] * wants_reports]


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"access_token": "expired"}, "access_token: WhatsApp does not accept it"),
        ({"phone_number_id": "404"}, "phone_number_id: there is no such number"),
        ({"app_secret": ""}, "app_secret: "),
        ({"verify_token": " "}, "verify_token: "),
    ],
)
async def test_what_only_an_operator_can_change_stops_the_bot(
    simulator: WhatsAppSimulator, url: str, config: dict[str, Any], reason: str
) -> None:
    with pytest.raises(AdapterStopped, match=reason):
        async with Bot(simulator, url, **config).served():
            pass


@pytest.mark.parametrize(
    ("webhook", "problem"),
    [
        ({}, "the app has no webhook"),
        ({"application": "https://chat.example.org/hooks/other"}, "the number calls another address"),
        ({"application": "https://other.example.org/hooks/x", "phone_number": "https://x.io/hooks/bot"}, ""),
    ],
)
async def test_the_status_says_what_is_wrong_with_the_webhook(
    simulator: WhatsAppSimulator, url: str, webhook: dict[str, str], problem: str
) -> None:
    simulator.webhook = webhook
    async with Bot(simulator, url).served() as bot:
        assert bot.link.now[0] == "connected"
        assert problem in bot.link.now[1]
        assert bool(bot.link.now[1]) == bool(problem)


async def test_an_unreachable_platform_is_tried_again_with_the_reason(simulator: WhatsAppSimulator, url: str) -> None:
    simulator.server.up = False
    bot = Bot(simulator, url)
    work = asyncio.create_task(bot.adapter.serve())
    await bot.link.until(lambda: "trying again" in bot.link.now[1])
    simulator.server.up = True
    await bot.link.until(lambda: bot.link.now[0] == "connected")
    work.cancel()


def test_the_form_explains_what_is_no_id_version_or_address() -> None:
    wrong = {"phone_number_id": "+1 555", "api_version": "23", "api_base_url": "graph"}
    assert [name for name, _ in problems(wrong)] == ["phone_number_id", "api_version", "api_base_url"]
    assert problems({"phone_number_id": NUMBER_ID, "api_version": "v23.0", "api_base_url": "https://x.io"}) == []


def _text(text: str) -> list[Any]:
    from parlour_sdk.protocol.chain import Plain

    return [Plain(text=text)]
