"""Tests the long connection: parts, acknowledgement after storage, pings, tokens, and what stops a bot."""

import asyncio

import pytest

from parlour.core.platforms.port import AdapterStopped, IncomingEvent
from parlour.testing.lark_simulator import LarkSimulator
from parlour.testing.memory_link import MemoryLink

from .conftest import ANN, BOB, GROUP, Bot


async def test_a_report_in_parts_is_joined(bot: Bot) -> None:
    bot.simulator.connection.part_bytes = 50
    await bot.simulator.say("grüße 👋" * 20, ANN, GROUP)
    await bot.heard("grüße 👋" * 20)
    await bot.simulator.until(lambda: not bot.simulator.connection.waiting)


async def test_a_report_that_is_repeated_while_it_is_stored_has_the_same_id(
    simulator: LarkSimulator, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator.connection.retry_seconds = 0.1
    stored = asyncio.Event()
    receive = MemoryLink.receive

    async def receive_late(link: MemoryLink, *incoming: IncomingEvent, cursor: str | None = None) -> None:
        await stored.wait()
        await receive(link, *incoming, cursor=cursor)

    monkeypatch.setattr(MemoryLink, "receive", receive_late)
    async with Bot(simulator, url).served() as bot:
        await simulator.say("late", ANN, GROUP)
        [waiting] = simulator.connection.waiting.values()
        await simulator.until(lambda: waiting.tries >= 3)
        assert simulator.connection.answers == []
        stored.set()
        await simulator.until(lambda: not simulator.connection.waiting)
        assert len({each.event.event_id for each in bot.link.incoming}) == 1


async def test_a_message_that_is_reported_again_hours_later_has_the_same_id(bot: Bot) -> None:
    message = await bot.simulator.say("once", ANN, GROUP)
    for _ in range(2):  # each report has an id and a time of its own
        await bot.simulator.report("im.message.receive_v1", bot.simulator.received(message))
    await bot.link.events(3)
    assert len({each.event.event_id for each in bot.link.incoming}) == 1


async def test_an_unacknowledged_report_arrives_over_the_next_connection(bot: Bot) -> None:
    bot.simulator.server.cut()
    await bot.simulator.say("while it was away", ANN, GROUP)
    await bot.heard("while it was away")
    await bot.simulator.until(lambda: not bot.simulator.connection.waiting)
    assert bot.simulator.connection.most_sockets == 1


async def test_pings_are_sent_at_the_interval_of_the_service(simulator: LarkSimulator, url: str) -> None:
    simulator.connection.ping_interval = 1
    async with Bot(simulator, url).served():
        await simulator.until(lambda: simulator.connection.pings >= 2)
    assert simulator.connection.connections == 1


async def test_an_expired_token_is_replaced_and_the_call_repeated(bot: Bot) -> None:
    before = set(bot.simulator.tokens)
    bot.simulator.tokens.clear()
    assert (await bot.api.get_user_info(ANN)).nickname == "Ann"
    assert len(bot.simulator.tokens) == 1
    assert not before & set(bot.simulator.tokens)


async def test_two_users_who_join_at_once_are_two_events(bot: Bot) -> None:
    users = [{"name": name, "user_id": {"open_id": user_id}} for name, user_id in (("Ann", ANN), ("Bob", BOB))]
    await bot.simulator.report("im.chat.member.user.added_v1", {"chat_id": GROUP, "users": users})
    events = await bot.link.events(2)
    assert [each.event.member.user.nickname for each in events] == ["Ann", "Bob"]  # type: ignore[attr-defined]
    assert len({each.event.event_id for each in events}) == 2


async def test_the_name_of_a_sender_is_looked_up_once(bot: Bot) -> None:
    for text in ("one", "two"):
        await bot.simulator.say(text, ANN, GROUP)
        await bot.heard(text)
    assert bot.simulator.made.count("user_get") == 1
    assert {each.event.sender.nickname for each in bot.link.incoming} == {"Ann"}  # type: ignore[attr-defined]


async def test_a_recall_in_a_private_chat_names_its_user(bot: Bot) -> None:
    chat_id = bot.simulator.world.direct_chat(ANN)
    await bot.simulator.report("im.message.recalled_v1", {"message_id": "om_1", "chat_id": chat_id})
    [incoming] = await bot.link.events(1)
    assert (incoming.event.chat_type, incoming.event.chat_id) == ("private", ANN)  # type: ignore[attr-defined]


@pytest.mark.parametrize("config", [{"app_secret": "wrong"}, {"app_id": "cli_wrong"}])
async def test_a_wrong_secret_stops_the_bot(simulator: LarkSimulator, url: str, config: dict[str, str]) -> None:
    with pytest.raises(AdapterStopped, match="app_secret: Lark does not accept it"):
        await Bot(simulator, url, **config).adapter.serve()


async def test_too_many_connections_are_reported_and_tried_again(simulator: LarkSimulator, url: str) -> None:
    simulator.endpoint_code = 1000040350
    bot = Bot(simulator, url)
    work = asyncio.create_task(bot.adapter.serve())
    await bot.link.until(lambda: "50 connections" in bot.link.now[1])
    work.cancel()
    await asyncio.wait([work])
    assert bot.link.now[0] == "connecting"
    assert "trying again in 60 s" in bot.link.now[1]


@pytest.mark.parametrize("missing", ["app_id", "app_secret"])
async def test_a_missing_field_is_named(simulator: LarkSimulator, url: str, missing: str) -> None:
    with pytest.raises(AdapterStopped, match=missing):
        Bot(simulator, url, **{missing: ""})
