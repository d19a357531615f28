"""Tests the calls of LINE: signatures, acknowledgement, order, late content, and what an operator reads."""

import asyncio
import base64

import pytest
from aiohttp import ClientSession

from parlour.core.journal import StorageFailed
from parlour.core.platforms.port import AdapterStopped, IncomingEvent
from parlour.testing.line_simulator import LineSimulator
from parlour.testing.line_simulator.world import BOT_USER
from parlour.testing.memory_link import MemoryLink
from parlour_sdk.protocol.chain import Image

from .conftest import Bot


@pytest.mark.parametrize("body", [b"{}", b'{"events":[]}', "ü".encode()])
async def test_a_call_with_a_wrong_signature_is_refused(bot: Bot, body: bytes) -> None:
    assert await bot.simulator.call_bot(body, secret="another") == 401
    async with ClientSession() as session, session.post(bot.simulator.request_url, data=body) as response:
        assert response.status == 401
    assert bot.link.incoming == []


async def test_the_status_explains_a_wrong_signature_until_one_is_right(bot: Bot) -> None:
    await bot.simulator.call_bot(b"{}", secret="another")
    assert bot.link.now[0] == "connected"
    assert "channel_secret must be" in bot.link.now[1]
    await bot.simulator.call_bot(b"{}")
    await bot.simulator.call_bot(b"{}", secret="another")
    assert bot.link.now == ("connected", "")


@pytest.mark.parametrize("body", [b"[", b"[]", b'{"events":7}', b'{"events":[null,7,"x"]}', b'{"events":[]}'])
async def test_a_signed_call_without_readable_events_is_acknowledged(bot: Bot, body: bytes) -> None:
    assert await bot.simulator.call_bot(body) == 200
    assert all(each.event.type == "platform.line.malformed" for each in bot.link.incoming)


async def test_a_failed_store_is_redelivered_with_the_same_id(
    simulator: LineSimulator, url: str, monkeypatch: pytest.MonkeyPatch
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
        event = await simulator.say("hi", ann, ann)
        [incoming] = await bot.link.events(1)
    assert [status for status, _ in simulator.responses] == [503, 200]
    assert incoming.event.event_id == event["webhookEventId"]


async def test_concurrent_calls_about_a_chat_keep_their_order(bot: Bot) -> None:
    simulator = bot.simulator
    ann, bob = simulator.world.add_user("Ann"), simulator.world.add_user("Bob")
    picture = simulator.message(ann, ann, type="image", contentProvider={"type": "line"})
    simulator.world.contents[picture["message"]["id"]] = b"slow"
    simulator.world.preparing[picture["message"]["id"]] = 1
    texts = [simulator.message(each, each, type="text", text="behind or beside") for each in (ann, bob)]
    events = [picture, *texts]
    calls = [simulator.call_bot({"destination": BOT_USER, "events": [each]}) for each in events]
    await asyncio.gather(*calls)
    order = [each.event.sender.id for each in bot.link.incoming]  # type: ignore[attr-defined]
    assert order == [bob, ann, ann]
    kinds = [part.type for part in bot.link.incoming[1].event.message_chain]  # type: ignore[attr-defined]
    assert kinds == ["Source", "Image"]


async def test_an_event_carries_the_single_reply_and_never_shows_its_token(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    event = await bot.simulator.say("hi", ann, ann)
    [incoming] = await bot.link.events(1)
    allowance = incoming.reply_allowance
    assert allowance is not None
    assert (allowance.handle, allowance.count, allowance.then) == (event["replyToken"], 1, "push")
    assert event["replyToken"] not in incoming.event.model_dump_json()


async def test_names_of_users_and_groups_are_looked_up_once(bot: Bot) -> None:
    ann = bot.simulator.world.add_user("Ann")
    group = bot.simulator.world.add_group("talk", ann)
    for text in ("one", "two"):
        await bot.simulator.say(text, ann, group)
    one, _ = await bot.link.events(2)
    assert one.event.sender.nickname == "Ann"  # type: ignore[attr-defined]
    assert one.event.group.name == "talk"  # type: ignore[attr-defined]
    assert bot.simulator.made.count("summary") == 1
    assert bot.simulator.made.count("{user}") == 1


async def test_a_file_needs_its_signature_and_expires(bot: Bot) -> None:
    simulator = bot.simulator
    ann = simulator.world.add_user("Ann")
    content = base64.b64encode(b"secret").decode()
    await bot.api.send_message("private", ann, [Image(base64=content)])
    [sent] = simulator.sent()
    address = sent.payload["originalContentUrl"].replace(simulator.public_address, simulator.real_address)
    changed = address.replace("until=", "until=9")
    async with ClientSession() as session:
        for url, status in ((address, 200), (changed, 403), (address.partition("&signature")[0], 403)):
            async with session.get(url) as response:
                assert response.status == status


async def test_a_wrong_token_stops_the_bot_with_what_to_do(simulator: LineSimulator, url: str) -> None:
    with pytest.raises(AdapterStopped, match="issue a long-lived token"):
        async with Bot(simulator, url, channel_access_token="wrong").served():
            pass


@pytest.mark.parametrize(
    ("endpoint", "problem"),
    [
        ({"endpoint": "https://other.example/hooks/other", "active": True}, "must end with /hooks/bot"),
        ({"endpoint": "https://host.example/hooks/bot", "active": False}, "switch on Use webhook"),
        ({"endpoint": "https://host.example/hooks/bot", "active": True}, ""),
    ],
)
async def test_the_settings_of_the_webhook_are_checked(
    simulator: LineSimulator, url: str, endpoint: dict[str, object], problem: str
) -> None:
    simulator.endpoint = endpoint
    async with Bot(simulator, url).served() as bot:
        state, shown = bot.link.now
    assert state == "connected"
    assert problem in shown
    assert bool(problem) == bool(shown)


async def test_line_that_is_down_is_tried_again(simulator: LineSimulator, url: str) -> None:
    simulator.server.turned_away = 2
    async with Bot(simulator, url).served() as bot:
        assert bot.link.now[0] == "connected"
    assert sum("trying again" in error for _, error in bot.link.states) == 2
