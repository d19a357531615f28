"""Tests identify, resume, heartbeats, close codes and the stored position of the gateway."""

import asyncio

import pytest

from parlour.core.platforms.port import AdapterStopped
from parlour.platforms.discord import gateway
from parlour.testing.discord_simulator import DiscordSimulator

from .conftest import Bot


def general(simulator: DiscordSimulator) -> str:
    [guild] = simulator.world.guilds.values()
    return str(guild.payload["system_channel_id"])


async def test_a_cut_connection_resumes_its_session_and_misses_nothing(bot: Bot) -> None:
    simulator, ann = bot.simulator, bot.simulator.world.add_user("Ann")
    await simulator.say("before", ann, general(simulator))
    await bot.heard("before")
    simulator.cut()
    await simulator.say("meanwhile", ann, general(simulator))
    await bot.heard("meanwhile")
    assert (simulator.gateway.identified, simulator.gateway.resumed) == (1, 1)
    assert bot.texts() == ["before", "meanwhile"]


async def test_a_restarted_host_continues_at_the_stored_position(simulator: DiscordSimulator, url: str) -> None:
    simulator.world.add_guild()
    ann = simulator.world.add_user("Ann")
    async with Bot(simulator, url).served() as first:
        await simulator.say("first", ann, general(simulator))
        await first.heard("first")
    await simulator.say("while it was down", ann, general(simulator))
    async with Bot(simulator, url, first.link.stored_cursor).served() as second:
        await second.heard("while it was down")
    assert second.texts() == ["while it was down"]
    assert (simulator.gateway.identified, simulator.gateway.resumed) == (1, 1)
    event = second.link.incoming[0].event
    assert event.group.name == "The Guild"  # type: ignore[attr-defined]


async def test_a_session_is_stored_before_its_first_event(simulator: DiscordSimulator, url: str) -> None:
    ann = simulator.world.add_user("Ann")
    direct = simulator.world.direct_channel(ann["id"])["id"]
    async with Bot(simulator, url).served() as first:
        await first.link.until(lambda: first.link.stored_cursor is not None)
    await simulator.say("the first message of all", ann, direct)
    async with Bot(simulator, url, first.link.stored_cursor).served() as second:
        await second.heard("the first message of all")


async def test_a_position_of_another_address_is_not_used(simulator: DiscordSimulator, url: str) -> None:
    ann = simulator.world.add_user("Ann")
    direct = simulator.world.direct_channel(ann["id"])["id"]
    async with Bot(simulator, url).served() as first:
        await simulator.say("first", ann, direct)
        await first.heard("first")
    stored = str(first.link.stored_cursor).replace(url, "http://127.0.0.1:1/api/v10")
    async with Bot(simulator, url, stored).served():
        assert simulator.gateway.identified == 2


async def test_a_session_that_discord_ended_is_replaced(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "IDENTIFY_DELAY_SECONDS", (0.0, 0.0))
    bot.simulator.gateway.sessions.clear()
    bot.simulator.cut()
    await bot.simulator.until(lambda: bot.simulator.gateway.identified == 2)
    assert bot.simulator.gateway.close_codes == []


async def test_a_connection_without_heartbeat_answers_is_replaced(simulator: DiscordSimulator, url: str) -> None:
    simulator.gateway.heartbeat_seconds = 0.2
    async with Bot(simulator, url).served():
        await simulator.until(lambda: simulator.gateway.heartbeats >= 2)
        simulator.gateway.answers_heartbeats = False
        await simulator.until(lambda: simulator.gateway.resumed >= 1)
        simulator.gateway.answers_heartbeats = True
        beats = simulator.gateway.heartbeats
        await simulator.until(lambda: simulator.gateway.heartbeats > beats + 1)
    assert simulator.gateway.close_codes == []


@pytest.mark.parametrize("opcode", [7, 9])
async def test_a_demanded_reconnection_resumes(bot: Bot, opcode: int) -> None:
    session = bot.simulator.gateway.active
    assert session is not None
    assert session.socket is not None
    await session.socket.send({"op": opcode, "d": True, "s": None, "t": None})
    await bot.simulator.until(lambda: bot.simulator.gateway.resumed == 1)


async def test_a_demanded_heartbeat_is_sent_at_once(bot: Bot) -> None:
    session = bot.simulator.gateway.active
    assert session is not None
    assert session.socket is not None
    await session.socket.send({"op": 1, "d": None, "s": None, "t": None})
    await bot.simulator.until(lambda: bot.simulator.gateway.heartbeats >= 1)


@pytest.mark.parametrize("code", [4000, 4001, 4002, 4005, 1001])
async def test_a_close_code_that_keeps_the_session_resumes(bot: Bot, code: int) -> None:
    session = bot.simulator.gateway.active
    assert session is not None
    assert session.socket is not None
    await session.socket.close(code)
    await bot.simulator.until(lambda: bot.simulator.gateway.resumed == 1)


@pytest.mark.parametrize("code", [4007, 4009])
async def test_a_close_code_that_ends_the_session_identifies_again(bot: Bot, code: int) -> None:
    session = bot.simulator.gateway.active
    assert session is not None
    assert session.socket is not None
    await session.socket.close(code)
    await bot.simulator.until(lambda: bot.simulator.gateway.identified == 2)
    assert bot.simulator.gateway.resumed == 0


@pytest.mark.parametrize("code", [4004, 4010, 4011, 4012, 4013, 4014])
async def test_a_fatal_close_code_stops_the_bot_with_a_message(
    simulator: DiscordSimulator, url: str, code: int
) -> None:
    bot = Bot(simulator, url)
    work = asyncio.create_task(bot.adapter.serve())
    await bot.link.until(lambda: bot.link.now[0] == "connected")
    session = simulator.gateway.active
    assert session is not None
    assert session.socket is not None
    await session.socket.close(code)
    with pytest.raises(AdapterStopped) as stopped:
        await work
    assert str(stopped.value) == gateway.POLICY.stop[code]


async def test_a_wrong_token_stops_the_bot(simulator: DiscordSimulator, url: str) -> None:
    with pytest.raises(AdapterStopped, match="token: Discord does not know it"):
        await Bot(simulator, url, token="wrong").adapter.serve()


async def test_missing_privileged_intents_stop_the_bot_and_can_be_left_out(
    simulator: DiscordSimulator, url: str
) -> None:
    simulator.gateway.disallowed_intents = gateway.CONTENT_INTENT | gateway.MEMBERS_INTENT
    with pytest.raises(AdapterStopped, match="Message Content and Server Members"):
        await Bot(simulator, url).adapter.serve()
    async with Bot(simulator, url, message_content=False, server_members=False).served() as bot:
        ann = simulator.world.add_user("Ann")
        await simulator.say("private texts arrive", ann, simulator.world.direct_channel(ann["id"])["id"])
        await bot.heard("private texts arrive")


async def test_no_session_is_begun_when_the_limit_of_the_day_is_used_up(simulator: DiscordSimulator, url: str) -> None:
    simulator.gateway.identifies_left = 0
    bot = Bot(simulator, url)
    work = asyncio.create_task(bot.adapter.serve())
    await bot.link.until(lambda: "no further session today" in bot.link.now[1])
    simulator.gateway.identifies_left = 1
    await bot.link.until(lambda: bot.link.now[0] == "connected")
    work.cancel()
    await asyncio.wait([work])
    assert simulator.gateway.connections == 1


async def test_servers_of_ready_are_no_invitations_and_a_later_one_is(bot: Bot) -> None:
    guild = bot.simulator.world.add_guild("Another")
    await bot.simulator.report("GUILD_CREATE", bot.simulator.world.guild_create(guild.payload["id"]))
    await bot.link.events(1)
    assert [each.event.type for each in bot.link.incoming] == ["bot.invited_to_group"]


async def test_a_server_that_was_unavailable_is_no_invitation(bot: Bot) -> None:
    [guild] = bot.simulator.world.guilds.values()
    await bot.simulator.report("GUILD_DELETE", {"id": guild.payload["id"], "unavailable": True})
    await bot.simulator.report("GUILD_CREATE", bot.simulator.world.guild_create(guild.payload["id"]))
    await bot.simulator.say("after", bot.simulator.world.add_user("Ann"), general(bot.simulator))
    await bot.heard("after")
    assert [each.event.type for each in bot.link.incoming] == ["message.received"]
