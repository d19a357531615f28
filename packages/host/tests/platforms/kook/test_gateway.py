"""Tests greeting, resumption, pings, the stored position, and what ends a session or stops a bot."""

import pytest

from parlour.core.platforms.port import AdapterStopped
from parlour.platforms.kook import gateway
from parlour.testing.kook_simulator import KookSimulator

from .conftest import Bot


async def test_a_cut_connection_resumes_its_session_and_misses_nothing(bot: Bot) -> None:
    await bot.say("before")
    await bot.heard("before")
    bot.simulator.server.cut()
    await bot.say("meanwhile")
    await bot.heard("meanwhile")
    assert bot.simulator.gateway.resumed == 1
    assert bot.texts() == ["before", "meanwhile"]


async def test_a_restarted_host_continues_at_the_stored_position(simulator: KookSimulator, url: str) -> None:
    async with Bot(simulator, url).served() as first:
        await first.say("first")
        await first.heard("first")
    await first.say("while it was down")
    async with Bot(simulator, url, first.link.stored_cursor).served() as second:
        await second.heard("while it was down")
    assert second.texts() == ["while it was down"]
    assert simulator.gateway.resumed == 1


async def test_numbers_begin_again_after_the_largest(simulator: KookSimulator, url: str) -> None:
    simulator.gateway.first_sequence = 65533
    async with Bot(simulator, url).served() as bot:
        for number in range(4):
            await bot.say(f"message {number}")
            await bot.heard(f"message {number}")
        simulator.server.cut()
        await bot.say("after")
        await bot.heard("after")
    assert bot.texts() == [*(f"message {number}" for number in range(4)), "after"]


async def test_an_expired_session_is_replaced(bot: Bot) -> None:
    bot.simulator.gateway.sessions.clear()
    bot.simulator.server.cut()
    await bot.simulator.until(
        lambda: bot.simulator.gateway.session is not None and bool(bot.simulator.gateway.sessions)
    )
    await bot.say("after")
    await bot.heard("after")
    assert bot.simulator.gateway.resumed == 0


async def test_a_demanded_reconnection_begins_another_session(bot: Bot) -> None:
    connections = bot.simulator.gateway.connections
    await bot.simulator.gateway.send({"s": 5, "d": {"code": 41008, "err": "Missing params"}})
    await bot.simulator.until(lambda: bot.simulator.gateway.connections > connections)
    await bot.say("after")
    await bot.heard("after")


async def test_pings_carry_the_last_number_and_their_silence_ends_the_connection(
    simulator: KookSimulator, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "PING_SECONDS", 0.1)
    async with Bot(simulator, url).served():
        await simulator.until(lambda: simulator.gateway.pings >= 3)
    assert simulator.gateway.connections == 1


@pytest.mark.parametrize("code", [40101, 40102])
async def test_a_refused_greeting_stops_the_bot(simulator: KookSimulator, url: str, code: int) -> None:
    simulator.gateway.hello_code = code
    with pytest.raises(AdapterStopped, match="token: KOOK does not know it"):
        await Bot(simulator, url).adapter.serve()


async def test_a_wrong_token_stops_the_bot(simulator: KookSimulator, url: str) -> None:
    with pytest.raises(AdapterStopped, match="token: KOOK does not know it"):
        await Bot(simulator, url, token="wrong").adapter.serve()


async def test_the_bot_goes_offline_when_it_stops(simulator: KookSimulator, url: str) -> None:
    async with Bot(simulator, url).served():
        pass
    assert simulator.made[-1] == "user/offline"
