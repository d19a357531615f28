"""Tests the connection to an IRC server: registration, log-in, nicks, channels, cuts, and what an operator reads."""

import asyncio
from typing import Any

import pytest

from parlour.core.platforms.port import AdapterStopped, PlatformOffline
from parlour.testing.irc_simulator import IrcSimulator
from parlour.testing.irc_simulator.simulator import ACCOUNT, PASSWORD
from parlour.testing.irc_simulator.world import SimulatedIrcChannel
from parlour.testing.network import free_port

from .conftest import Bot


async def test_a_bot_logs_in_by_sasl_and_is_known_by_its_account(simulator: IrcSimulator, port: int) -> None:
    async with Bot(simulator, port, sasl_account=ACCOUNT, sasl_password=PASSWORD).served() as bot:
        assert bot.link.now == ("connected", "")
        assert simulator.world.users["parlour"].account == ACCOUNT


async def test_a_long_password_is_sent_in_parts(simulator: IrcSimulator, port: int) -> None:
    password = "x" * 1200
    simulator.accounts["long"] = password
    async with Bot(simulator, port, sasl_account="long", sasl_password=password).served():
        assert simulator.world.users["parlour"].account == "long"


@pytest.mark.parametrize(
    ("config", "server", "reason"),
    [
        ({"sasl_account": ACCOUNT, "sasl_password": "wrong"}, {}, "sasl_password: "),
        ({"sasl_account": ACCOUNT, "sasl_password": PASSWORD}, {"capabilities": ["server-time"]}, "offers no log-in"),
        ({"nick": "x" * 21}, {}, "nick: "),
        ({}, {"password": "secret"}, "server_password: "),
        ({}, {"ban_reason": "no bots"}, "banned this bot.*no bots"),
    ],
)
async def test_what_only_an_operator_can_change_stops_the_bot(
    simulator: IrcSimulator, port: int, config: dict[str, Any], server: dict[str, Any], reason: str
) -> None:
    for name, value in server.items():
        setattr(simulator, name, value)
    with pytest.raises(AdapterStopped, match=reason):
        async with Bot(simulator, port, **config).served():
            pass


async def test_the_password_of_a_server_is_sent(simulator: IrcSimulator, port: int) -> None:
    simulator.password = "secret"
    async with Bot(simulator, port, server_password="secret").served() as bot:
        assert bot.link.now == ("connected", "")


async def test_a_nick_in_use_is_replaced_and_regained(simulator: IrcSimulator, port: int) -> None:
    other = simulator.world.add_user("parlour")
    async with Bot(simulator, port).served() as bot:
        assert "the nick Parlour is in use, the bot is Parlour_" in bot.link.now[1]
        await simulator.quit(other)
        await simulator.until(lambda: simulator.client("Parlour") is not None)
        assert "parlour" in simulator.world.channels["#talk"].members


async def test_channels_that_do_not_let_the_bot_in_are_named(simulator: IrcSimulator, port: int) -> None:
    simulator.world.channels["#keyed"] = SimulatedIrcChannel("#keyed", key="sesame")
    simulator.world.channels["#open"] = SimulatedIrcChannel("#open", key="sesame")
    simulator.world.channels["#closed"] = SimulatedIrcChannel("#closed", is_invite_only=True)
    async with Bot(simulator, port, channels=["#keyed", "#open sesame", "#closed"]).served() as bot:
        state, problem = bot.link.now
        assert state == "connected"
        assert "#keyed: the key of the channel is missing or wrong" in problem
        assert "#closed: the channel can be joined only by invitation" in problem
        assert "#open" not in problem
        assert "parlour" in simulator.world.channels["#open"].members


async def test_a_bot_without_a_connection_says_so(simulator: IrcSimulator, port: int) -> None:
    with pytest.raises(PlatformOffline):
        await Bot(simulator, port).api.get_group_list()


async def test_channels_are_joined_again_after_a_cut_with_those_it_was_invited_to(
    simulator: IrcSimulator, port: int
) -> None:
    ann = simulator.world.users["ann"]
    simulator.world.add_channel("#Later", ann)
    async with Bot(simulator, port, join_on_invite=True).served() as bot:
        await simulator.invite(ann, "Parlour", "#Later")
        later = simulator.world.channels["#later"]
        await simulator.until(lambda: "parlour" in later.members)
        simulator.cut()
        await bot.connected(2)
        assert "parlour" in later.members
        assert "parlour" in simulator.world.channels["#talk"].members


async def test_an_invitation_waits_for_an_answer_unless_the_bot_may_follow_it(bot: Bot) -> None:
    ann = bot.simulator.world.users["ann"]
    bot.simulator.world.add_channel("#Later", ann)
    await bot.simulator.invite(ann, "Parlour", "#Later")
    [invited] = await bot.link.events(1)
    assert invited.event.request_id == "#Later"  # type: ignore[attr-defined]
    assert "parlour" not in bot.simulator.world.channels["#later"].members


async def test_a_server_without_capabilities_is_served_too(simulator: IrcSimulator, port: int) -> None:
    simulator.capabilities = []
    ann = simulator.world.users["ann"]
    async with Bot(simulator, port).served() as bot:
        await simulator.say("Parlour: hello", ann, "#Talk")
        [incoming] = await bot.link.events(1)
        assert incoming.event.sender.id == "ann!user@people.example"  # type: ignore[attr-defined]


async def test_ctcp_is_answered_by_a_notice_a_few_times_and_is_no_message(bot: Bot) -> None:
    ann = bot.simulator.world.users["ann"]
    for _ in range(5):
        await bot.simulator.say("\x01VERSION\x01", ann, "Parlour")
    await bot.simulator.say("hello", ann, "Parlour")
    [incoming] = await bot.link.events(1)
    assert incoming.event.message_chain[1].text == "hello"  # type: ignore[attr-defined]
    await bot.simulator.until(lambda: len(bot.simulator.world.notices) == 3)
    assert {each.content for each in bot.simulator.world.notices} == {"\x01VERSION Parlour\x01"}


async def test_removal_from_a_channel_is_shown_in_the_status(bot: Bot) -> None:
    await bot.simulator.deliver(":Ann!user@people.example KICK #Talk Parlour :rude", "Parlour")
    await bot.link.until(lambda: "removed from #Talk" in bot.link.now[1])
    assert [each.name for each in await bot.api.get_group_list()] == []


async def test_a_closed_connection_is_explained_by_the_server_s_own_words(bot: Bot) -> None:
    await bot.simulator.deliver("ERROR :Closing link: (Excess Flood)", "Parlour")
    await bot.link.until(lambda: any("Excess Flood" in problem for _, problem in bot.link.states))
    await bot.connected(2)


async def test_an_unreachable_server_is_tried_again_with_the_reason(simulator: IrcSimulator) -> None:
    port = free_port()
    bot = Bot(simulator, port)
    work = asyncio.create_task(bot.adapter.serve())
    try:
        reason = "check host, port and security; trying again in"
        await bot.link.until(lambda: len([each for _, each in bot.link.states if reason in each]) >= 2)
        async with simulator.listening(port):
            await bot.connected()
    finally:
        work.cancel()
        await asyncio.wait([work])
