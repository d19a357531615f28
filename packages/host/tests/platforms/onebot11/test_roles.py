"""An account may use separate connections for calls and events, like go-cqhttp and Lagrange."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from parlour.core.platforms.port import PlatformOffline
from parlour.platforms.onebot11 import accounts, connectors
from parlour.testing.onebot_simulator import Simulator, native
from parlour_sdk.protocol.chain import MessageChain, Plain, Quote
from parlour_sdk.protocol.platform_events import MessageReceived

from .conftest import Bot, Reverse

HELLO: MessageChain = [Plain(text="hello")]


@asynccontextmanager
async def two_connections(bot: Bot, events: Simulator, calls: Simulator) -> AsyncIterator[None]:
    async with events.connecting(bot.url, role="Event"), calls.connecting(bot.url, role="API"):
        await events.until(lambda: events.connected)
        await calls.until(lambda: calls.connected)
        await bot.link.until(lambda: bot.link.now == ("connected", ""))
        yield


@asynccontextmanager
async def unresponsive_connection(bot: Bot, role: str) -> AsyncIterator[ClientConnection]:
    """Opens a connection that reads nothing, so that not even a ping is answered."""
    headers = {"X-Self-ID": "10001", "X-Client-Role": role}
    async with connect(bot.url, additional_headers=headers, proxy=None, close_timeout=0) as socket:
        socket.transport.pause_reading()  # type: ignore[attr-defined]
        yield socket


async def test_calls_and_events_may_use_separate_connections(bot: Bot) -> None:
    events, calls = Simulator(), Simulator()
    async with two_connections(bot, events, calls):
        await events.say("an event")
        await bot.link.events(1)
        await bot.adapter.api().send_message("private", "7", HELLO)
    assert [each.text for each in calls.sent()] == ["hello"]


async def test_lookups_for_an_event_use_the_connection_for_calls(bot: Bot) -> None:
    events, calls = Simulator(), Simulator()
    async with two_connections(bot, events, calls):
        calls.world.messages[55] = native.message(10001, 55, 8, [native.text("the original")])
        await events.say([native.segment("reply", id="55"), native.text("why?")])
        [incoming] = await bot.link.events(1)
    assert isinstance(incoming.event, MessageReceived)
    [quote] = [each for each in incoming.event.message_chain if isinstance(each, Quote)]
    assert quote.origin == [Plain(text="the original")]
    assert [each["action"] for each in calls.requests] == ["get_msg"]


async def test_cq_strings_on_the_event_connection_are_used_on_the_call_connection(bot: Bot) -> None:
    events, calls = Simulator(message_format="string"), Simulator()
    async with two_connections(bot, events, calls):
        await events.say("a string")
        await bot.link.events(1)
        await bot.adapter.api().send_message("private", "7", HELLO)
    assert calls.requests[-1]["params"]["message"] == "hello"


async def test_a_missing_connection_of_an_account_is_shown(bot: Bot) -> None:
    calls = Simulator()
    async with Simulator().connecting(bot.url, role="Event"):
        await bot.link.until(lambda: "account 10001 reports events and takes no calls; let it" in bot.link.now[1])
        with pytest.raises(PlatformOffline, match="takes no calls"):
            await bot.adapter.api("10001").send_message("private", "7", HELLO)
        async with calls.connecting(bot.url, role="API"):
            await bot.link.until(lambda: bot.link.now == ("connected", ""))
        await bot.link.until(lambda: "takes no calls" in bot.link.now[1])
    async with calls.connecting(bot.url, role="API"):
        await bot.link.until(lambda: "account 10001 takes calls and reports no events; let it" in bot.link.now[1])


async def test_an_event_connection_need_not_answer_pings(reverse: Reverse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connectors, "PING_INTERVAL_SECONDS", 0.1)
    bot = await reverse()
    async with unresponsive_connection(bot, "Event") as events:
        async with unresponsive_connection(bot, "API"):
            await bot.link.until(lambda: ("connected", "") in bot.link.states)
            await bot.link.until(lambda: "takes no calls" in bot.link.now[1])  # the connection for calls was closed
        await events.send(json.dumps(native.message(10001, 1, 7, [native.text("still here")])))
        [incoming] = await bot.link.events(1)
    assert (incoming.event.type, incoming.account) == ("message.received", "10001")


async def test_a_second_event_connection_is_refused_while_the_first_has_a_heartbeat(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "PROBE_TIMEOUT_SECONDS", 0.1)
    headers = {"X-Self-ID": "10001", "X-Client-Role": "Event"}
    async with unresponsive_connection(bot, "Event") as first:
        await first.send(json.dumps(native.heartbeat(10001, 60)))
        await first.send(json.dumps(native.message(10001, 1, 7, [native.text("hello")])))
        await bot.link.events(1)
        with pytest.raises(InvalidStatus):
            await connect(bot.url, additional_headers=headers, proxy=None)
    assert "claims account 10001" in bot.link.now[1]
