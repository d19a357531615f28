"""Tests login, resumption, missed posts, pings, the stored position, and what stops a bot."""

import asyncio

import pytest

from parlour.core.platforms.port import AdapterStopped
from parlour.platforms.mattermost import gateway
from parlour.platforms.mattermost.configuration import problems
from parlour.testing.mattermost_simulator import MattermostSimulator
from parlour.testing.mattermost_simulator.world import BOT_ID

from .conftest import ANN, CHANNEL, Bot


async def test_a_cut_connection_is_continued_and_misses_nothing(bot: Bot) -> None:
    await bot.say("before")
    await bot.heard("before")
    bot.simulator.server.cut()
    await bot.say("meanwhile")
    await bot.heard("meanwhile")
    assert bot.simulator.gateway.resumed == 1
    assert bot.texts() == ["before", "meanwhile"]


async def test_a_continued_connection_without_events_is_reported(bot: Bot) -> None:
    connections = bot.simulator.gateway.connections
    bot.simulator.server.cut()
    await bot.simulator.until(lambda: bot.simulator.gateway.connections > connections)
    await bot.link.until(lambda: bot.link.now == ("connected", ""))
    assert bot.simulator.gateway.resumed == 1


async def test_what_was_posted_edited_and_deleted_in_a_gap_is_fetched(bot: Bot) -> None:
    world = bot.simulator.world
    known = await bot.say("known")
    other = await bot.say("other")
    await bot.heard("other")
    bot.simulator.gateway.forget()
    moment = world.now() + 5000
    known |= {"message": "changed", "edit_at": moment, "update_at": moment}
    other |= {"delete_at": moment + 1, "update_at": moment + 1}
    missed = world.write(CHANNEL, ANN, "meanwhile", create_at=moment + 2, update_at=moment + 2)
    world.write(CHANNEL, BOT_ID, "by the bot itself", create_at=moment + 3, update_at=moment + 3)
    world.channels[CHANNEL]["last_post_at"] = moment + 3
    bot.simulator.server.cut()
    await bot.heard("meanwhile")
    again = ["message.received", "message.edited"]  # the same id again: it was posted within the overlap
    assert bot.types() == ["message.received"] * 2 + again + ["message.deleted", "message.received"]
    assert bot.link.incoming[0].event.event_id == bot.link.incoming[2].event.event_id
    assert bot.link.incoming[-1].event.event_id == f"p:{missed['id']}"
    assert bot.simulator.gateway.resumed == 0


async def test_left_out_events_are_noticed_and_fetched(bot: Bot) -> None:
    connection = bot.simulator.gateway.connection
    assert connection is not None
    bot.simulator.world.write(CHANNEL, ANN, "left out")
    connection.sequence += 1
    await bot.say("after it")
    await bot.heard("left out")
    await bot.heard("after it")
    assert "Mattermost left out events" in str(bot.link.states)


async def test_a_repeated_frame_is_handled_once(bot: Bot) -> None:
    await bot.say("once")
    await bot.simulator.gateway.send(bot.simulator.reported[-1])
    await bot.say("next")
    await bot.heard("next")
    assert bot.texts() == ["once", "next"]


async def test_a_restarted_host_continues_at_the_stored_position(simulator: MattermostSimulator, url: str) -> None:
    async with Bot(simulator, url).served() as first:
        await first.say("first")
        await first.heard("first")
    simulator.gateway.forget()
    await simulator.say(CHANNEL, ANN, "while it was down")
    async with Bot(simulator, url, first.link.stored_cursor).served() as second:
        await second.heard("while it was down")
    assert second.texts()[-1] == "while it was down"


async def test_a_new_bot_does_not_answer_old_posts(simulator: MattermostSimulator, url: str) -> None:
    simulator.world.write(CHANNEL, ANN, "old")
    async with Bot(simulator, url).served() as bot:
        await bot.say("new")
        await bot.heard("new")
    assert bot.texts() == ["new"]
    assert bot.link.stored_cursor is not None


async def test_pings_are_sent_and_their_silence_ends_the_connection(
    simulator: MattermostSimulator, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "PING_SECONDS", 0.05)
    async with Bot(simulator, url).served() as bot:
        await simulator.until(lambda: simulator.gateway.pings >= 4)
        assert simulator.gateway.connections == 1
        simulator.gateway.answers_pings = False
        await bot.link.until(lambda: "did not answer a heartbeat" in str(bot.link.states))


async def test_a_wrong_token_stops_the_bot(simulator: MattermostSimulator, url: str) -> None:
    with pytest.raises(AdapterStopped, match="token: Mattermost does not accept it"):
        await Bot(simulator, url, token="wrong").adapter.serve()


async def test_a_token_that_is_revoked_later_stops_the_bot(simulator: MattermostSimulator, url: str) -> None:
    bot = Bot(simulator, url)
    work = asyncio.create_task(bot.adapter.serve())
    await bot.link.until(lambda: bot.link.now[0] == "connected")
    simulator.faults.refuse("users/me", 401, "api.context.session_expired.app_error")
    simulator.server.cut()
    with pytest.raises(AdapterStopped, match="token: Mattermost does not accept it"):
        await work


async def test_an_address_without_mattermost_says_what_to_check(simulator: MattermostSimulator, url: str) -> None:
    assert "HTTP status 404" in await Bot(simulator, f"{url}/other").first_problem()
    assert "check the network, a proxy, or the url" in await Bot(simulator, "http://127.0.0.1:9").first_problem()


@pytest.mark.parametrize(
    "address", ["chat.example.org", "ftp://chat", "http://", "https://chat:99999", "https://chat:x"]
)
def test_an_address_that_is_none_is_refused_by_the_form(address: str) -> None:
    assert [name for name, _ in problems({"url": address, "public_url": ""})] == ["url"]
    assert problems({"url": "https://chat.example.org:8065/path"}) == []


async def test_a_bot_without_a_team_is_told_to_join_one(simulator: MattermostSimulator, url: str) -> None:
    simulator.world.teams.clear()
    async with Bot(simulator, url).served() as bot:
        assert bot.link.now == ("connected", gateway.NO_TEAM)
