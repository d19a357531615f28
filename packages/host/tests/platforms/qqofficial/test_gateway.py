"""Tests the gateway: resumption, also after a restart, intents, close codes, and heartbeats."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from parlour.core.platforms.port import AdapterStopped
from parlour.testing.qqofficial_simulator import QQSimulator
from parlour.testing.qqofficial_simulator.gateway import C2C_AND_GROUPS

from .conftest import ANN, Bot


async def test_a_cut_session_is_resumed_and_nothing_is_missed(bot: Bot) -> None:
    await bot.hear("before")
    bot.simulator.server.cut()
    await bot.simulator.until(lambda: bot.simulator.gateway.socket is None)
    await bot.simulator.say("meanwhile", ANN)
    await bot.link.events(2)
    assert (bot.simulator.gateway.identified, bot.simulator.gateway.resumed) == (1, 1)


async def test_a_restarted_bot_resumes_where_its_events_were_stored(simulator: QQSimulator, url: str) -> None:
    first = Bot(simulator, url)
    async with first.served():
        await first.hear("before")
    await simulator.say("meanwhile", ANN)
    later = Bot(simulator, url)
    later.link.stored_cursor = first.link.stored_cursor
    async with later.served():
        [incoming] = await later.link.events(1)
    assert incoming.event.message_chain[1].text == "meanwhile"  # type: ignore[attr-defined]
    assert simulator.gateway.resumed == 1


async def test_a_request_to_reconnect_is_no_problem(bot: Bot) -> None:
    await bot.simulator.gateway.ask_to_reconnect()
    await bot.simulator.until(lambda: bot.simulator.gateway.resumed == 1)
    assert all(not problem for _, problem in bot.link.states)


async def test_a_session_that_qq_has_forgotten_begins_anew(bot: Bot) -> None:
    bot.simulator.gateway.session = "another"
    bot.simulator.server.cut()
    await bot.simulator.until(lambda: bot.simulator.gateway.identified == 2)
    await bot.hear("after")


@pytest.mark.parametrize(("code", "identified"), [(4009, 1), (4006, 2), (4007, 2), (4004, 2), (4900, 2)])
async def test_a_close_code_continues_or_begins_a_session(bot: Bot, code: int, identified: int) -> None:
    await bot.simulator.gateway.close(code)
    gateway = bot.simulator.gateway
    await bot.simulator.until(lambda: gateway.identified + gateway.resumed == 2)
    assert gateway.identified == identified


@pytest.mark.parametrize(("code", "reason"), [(4914, "taken the bot offline"), (4915, "banned the bot")])
async def test_a_bot_that_qq_does_not_allow_stops_for_good(
    simulator: QQSimulator, url: str, code: int, reason: str
) -> None:
    async with AsyncExitStack() as stack:
        bot = await stack.enter_async_context(Bot(simulator, url).served())
        await simulator.gateway.close(code)
        assert bot.work is not None
        await asyncio.wait([bot.work])
        with pytest.raises(AdapterStopped, match=reason):
            await stack.aclose()
    assert simulator.gateway.connections == 1


async def test_a_wrong_secret_stops_the_bot(simulator: QQSimulator, url: str) -> None:
    with pytest.raises(AdapterStopped, match="secret: QQ does not accept it"):
        async with Bot(simulator, url, secret="wrong").served():
            pass


async def test_events_without_permission_are_left_out_and_named(simulator: QQSimulator, url: str) -> None:
    simulator.gateway.allowed_intents = C2C_AND_GROUPS
    async with Bot(simulator, url).served() as bot:
        assert simulator.gateway.connections == 3
        assert "only these events: private chats and groups" in bot.link.now[1]
        await bot.hear("hello")


async def test_heartbeats_name_the_last_event(simulator: QQSimulator, url: str) -> None:
    simulator.gateway.heartbeat_interval = 50
    async with Bot(simulator, url).served():
        await simulator.until(lambda: simulator.gateway.beats >= 3)
    assert simulator.gateway.connections == 1


async def test_a_message_of_a_bot_is_no_event(bot: Bot) -> None:
    message = bot.simulator.message("AT_MESSAGE_CREATE", "8000", "1001", "from a bot")
    await bot.simulator.report("AT_MESSAGE_CREATE", {**message, "author": {"id": "1", "bot": True}})
    await bot.hear("after")
    assert len(bot.link.incoming) == 1
