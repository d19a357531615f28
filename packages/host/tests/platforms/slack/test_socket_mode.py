"""Tests Socket Mode: one connection at a time, acknowledgement after storage, repetitions, and what stops a bot."""

import asyncio

import pytest

from parlour.core.platforms.port import AdapterStopped, IncomingEvent
from parlour.testing.memory_link import MemoryLink
from parlour.testing.slack_simulator import SlackSimulator

from .conftest import Bot


async def test_an_old_connection_never_lives_beside_a_new_one(bot: Bot) -> None:
    simulator = bot.simulator
    for number in range(3):
        connections = simulator.socket_mode.connections
        await simulator.socket_mode.disconnect("warning")
        await simulator.until(lambda before=connections: simulator.socket_mode.connections > before)  # type: ignore[misc]
        await simulator.say(f"message {number}", "UANN", "CTALK")
        await bot.heard(f"message {number}")
    assert simulator.socket_mode.most_sockets == 1


async def test_a_report_that_is_repeated_while_it_is_stored_has_the_same_id(
    simulator: SlackSimulator, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator.socket_mode.retry_seconds = 0.1
    stored = asyncio.Event()
    receive = MemoryLink.receive

    async def receive_late(link: MemoryLink, *incoming: IncomingEvent, cursor: str | None = None) -> None:
        await stored.wait()
        await receive(link, *incoming, cursor=cursor)

    monkeypatch.setattr(MemoryLink, "receive", receive_late)
    async with Bot(simulator, url).served() as bot:
        await simulator.say("late", "UANN", "CTALK")
        [waiting] = simulator.socket_mode.waiting.values()
        await simulator.until(lambda: waiting.frame["retry_attempt"] >= 2)
        assert simulator.socket_mode.answers == []
        stored.set()
        await simulator.until(lambda: not simulator.socket_mode.waiting)
        assert len({each.event.event_id for each in bot.link.incoming}) == 1


async def test_an_unacknowledged_report_arrives_over_the_next_connection(bot: Bot) -> None:
    bot.simulator.server.cut()
    await bot.simulator.say("while it was away", "UANN", "CTALK")
    await bot.heard("while it was away")
    await bot.simulator.until(lambda: not bot.simulator.socket_mode.waiting)


async def test_another_connection_with_the_same_token_is_reported(simulator: SlackSimulator, url: str) -> None:
    async with Bot(simulator, url).served(), Bot(simulator, url).served() as second:
        assert "another program is connected" in second.link.now[1]


async def test_a_mention_that_is_reported_twice_is_one_event(bot: Bot) -> None:
    message = await bot.simulator.say("<@U0BOT> hi", "UANN", "CTALK")
    await bot.simulator.report({**message, "type": "app_mention"})
    await bot.link.events(2)
    assert len({each.event.event_id for each in bot.link.incoming}) == 1


async def test_the_preview_of_a_link_is_no_edit(bot: Bot) -> None:
    message = await bot.simulator.say("see https://example.com", "UANN", "CTALK")
    change = {**message, "subtype": "message_changed", "message": message, "previous_message": message}
    await bot.simulator.report(change)
    await bot.simulator.say("after", "UANN", "CTALK")
    await bot.heard("after")
    assert [each.event.type for each in bot.link.incoming] == ["message.received"] * 2


async def test_the_senders_name_and_role_are_looked_up_once(bot: Bot) -> None:
    for text in ("one", "two"):
        await bot.simulator.say(text, "UANN", "CTALK")
        await bot.heard(text)
    assert bot.simulator.made.count("users.info") == 1
    assert {(each.event.sender.nickname, each.role) for each in bot.link.incoming} == {("Ann", "admin")}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"bot_token": "xoxb-wrong"}, "bot_token: Slack does not accept it"),
        ({"app_token": "xapp-wrong"}, "app_token: Slack does not accept it"),
        ({"app_token": "xoxb-the-secret-bot-token"}, "app_token: Slack does not accept it"),
    ],
)
async def test_a_wrong_token_stops_the_bot_with_its_field(
    simulator: SlackSimulator, url: str, config: dict[str, str], message: str
) -> None:
    with pytest.raises(AdapterStopped, match=message):
        await Bot(simulator, url, **config).adapter.serve()


@pytest.mark.parametrize("missing", ["bot_token", "app_token"])
async def test_a_missing_token_is_named(simulator: SlackSimulator, url: str, missing: str) -> None:
    with pytest.raises(AdapterStopped, match=missing):
        Bot(simulator, url, **{missing: ""})


async def test_socket_mode_that_is_switched_off_stops_the_bot(bot: Bot) -> None:
    work = asyncio.create_task(Bot(bot.simulator, bot.simulator.calls.address + "/api").adapter.serve())
    await bot.simulator.until(lambda: len(bot.simulator.socket_mode.sockets) == 2)
    await bot.simulator.socket_mode.sockets[1].send('{"type": "disconnect", "reason": "link_disabled"}')
    with pytest.raises(AdapterStopped, match="Socket Mode is switched off"):
        await work
