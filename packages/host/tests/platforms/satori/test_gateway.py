"""Tests identification, logins, replay after a cut and a restart, and what stops a bot."""

import pytest

from parlour.core.platforms.port import AdapterStopped
from parlour.platforms.satori.client import base_address, socket_address
from parlour.testing.satori_platform import SatoriPlatform

from .conftest import ANN, CHANNEL, Bot


async def test_a_restarted_host_gets_what_it_missed(platform: SatoriPlatform, endpoint: str) -> None:
    async with Bot(platform, endpoint).served() as first:
        for text in ("first", "second"):
            await first.say(text)
        await first.heard("second")
    await first.say("while it was down")
    async with Bot(platform, endpoint, first.link.stored_cursor).served() as second:
        await second.heard("while it was down")
    assert second.texts() == ["while it was down"]


async def test_a_cut_connection_misses_nothing(bot: Bot) -> None:
    for text in ("one", "two"):
        await bot.say(text)
    await bot.heard("two")
    bot.platform.relay.cut()
    await bot.say("meanwhile")
    await bot.heard("meanwhile")
    assert bot.texts() == ["one", "two", "meanwhile"]


async def test_a_restarted_server_counts_again_and_nothing_is_ignored(platform: SatoriPlatform) -> None:
    async with platform.listening() as endpoint, Bot(platform, endpoint).served() as first:
        for number in range(5):
            await first.say(f"message {number}")
        await first.heard("message 4")
    async with platform.listening() as endpoint:
        stored = (first.link.stored_cursor or "").replace(first.link.config["endpoint"], endpoint)
        async with Bot(platform, endpoint, stored).served() as bot:
            await bot.say("after")
            await bot.heard("after")
            await bot.link.until(lambda: '"sn":0' in (bot.link.stored_cursor or ""))


async def test_a_wrong_token_stops_the_bot_with_what_to_do(platform: SatoriPlatform, endpoint: str) -> None:
    bot = Bot(platform, endpoint, token="wrong")
    with pytest.raises(AdapterStopped, match="token: the Satori server does not accept it"):
        await bot.adapter.serve()


async def test_only_the_configured_account_is_served(platform: SatoriPlatform, endpoint: str) -> None:
    async with Bot(platform, endpoint, self_id="elsewhere").served() as bot:
        assert "no such account online" in bot.link.now[1]
        await bot.say("for another")
        await platform.report_unchanged(
            {**platform.event("message-created", CHANNEL, ANN, message={"id": "x", "content": "for it"}), "login": {
                "platform": "chronocat", "user": {"id": "elsewhere"}}, "sn": 99}
        )  # fmt: skip
        await bot.heard("for it")
    assert bot.texts() == ["for it"]


async def test_a_login_that_ends_is_reported(bot: Bot) -> None:
    login = bot.platform.event("login-updated")["login"]
    await bot.platform.report(bot.platform.event("login-updated", login={**login, "status": 0}))
    await bot.link.until(lambda: "no account online" in bot.link.now[1])
    await bot.platform.report(bot.platform.event("login-updated"))
    await bot.link.until(lambda: bot.link.now == ("connected", ""))


@pytest.mark.parametrize(
    "endpoint",
    ["http://h:1/satori", "http://h:1/satori/", "ws://h:1/satori/v1", "http://h:1/satori/v1/events"],
)
def test_an_endpoint_is_accepted_in_all_its_forms(endpoint: str) -> None:
    assert base_address(endpoint) == "http://h:1/satori/v1"
    assert socket_address("https://h/v1") == "wss://h/v1/events"


@pytest.mark.parametrize("endpoint", ["", "h:1", "ftp://h/", "http://"])
def test_what_is_no_endpoint_is_explained(endpoint: str) -> None:
    with pytest.raises(AdapterStopped, match="endpoint: must be the address"):
        base_address(endpoint)
