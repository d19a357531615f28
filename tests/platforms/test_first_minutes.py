"""Tests that the state of a new bot says in words what its operator has to do, on each of nine platforms."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.core.platforms.hooks import HookReceiver
from parlour.core.platforms.port import Adapter, AdapterStopped, ConnectionState
from parlour.core.texts.translation import translate
from parlour.platforms.discord.gateway import MEMBERS_INTENT
from parlour.testing.hook_server import hooks_served
from parlour.testing.memory_link import MemoryLink
from parlour.testing.network import free_port
from parlour.testing.slack_simulator.simulator import SIGNING_SECRET
from tests.platforms.drivers import PLATFORMS
from tests.platforms.slack.driver import SPEAKER

NINE = ("discord", "slack", "kook", "line", "satori", "email", "whatsapp", "mattermost", "irc")
Act = Callable[[Any, str], Awaitable[Any]]


async def nothing(driver: Any, address: str) -> None: ...


@dataclass(frozen=True)
class Mistake:
    """Something that goes wrong when a bot is set up, and the words of its state."""

    platform: str
    name: str
    words: str
    config: dict[str, Any] = field(default_factory=dict)
    state: ConnectionState = "failed"
    """`failed` if the bot waits for its operator, `connecting` if it tries again."""
    prepare: Callable[[Any], None] = lambda driver: None
    """Prepares the platform before the bot starts."""
    act: Act = nothing
    """Happens on the platform when the bot is connected, with the address of its webhook."""


def without_scope(driver: Any) -> None:
    driver.simulator.scopes -= {"chat:write", "users:read"}


def without_intents(driver: Any) -> None:
    driver.simulator.gateway.disallowed_intents = MEMBERS_INTENT


def without_team(driver: Any) -> None:
    driver.simulator.world.teams.clear()


def webhook_off(driver: Any) -> None:
    driver.simulator.endpoint = {"endpoint": "https://host/hooks/bot", "active": False}


def webhook_elsewhere(driver: Any) -> None:
    driver.simulator.webhook = {"application": "https://elsewhere.example/hooks/other"}


def only_invited(driver: Any) -> None:
    for channel in driver.simulator.world.channels.values():
        channel.is_invite_only = True


async def signed_call(driver: Any, address: str) -> None:
    await driver.simulator.call_bot({"destination": "x", "events": []})


async def slack_call(driver: Any, address: str) -> None:
    driver.simulator.request_url = address
    await driver.simulator.say("hello", SPEAKER, driver.simulator.world.direct_channel(SPEAKER))


async def verification(driver: Any, address: str) -> None:
    await driver.simulator.verify()


WEBHOOK = {"mode": "webhook", "signing_secret": f"not {SIGNING_SECRET}"}
MISTAKES = [
    Mistake("discord", "wrong token", "token: Discord does not know it; copy it again", {"token": "wrong"}),
    Mistake("discord", "missing intent", "switch on Message Content and Server Members", prepare=without_intents),
    Mistake("slack", "wrong bot token", "bot_token: Slack does not accept it; copy", {"bot_token": "xoxb-wrong"}),
    Mistake("slack", "wrong app token", "app_token: Slack does not accept it; copy", {"app_token": "xapp-wrong"}),
    Mistake(
        "slack",
        "missing scope",
        "lacks the scopes chat:write, users:read; add them",
        state="connected",
        prepare=without_scope,
    ),
    Mistake(
        "slack",
        "wrong signing secret",
        "signing_secret must be the one of the page",
        WEBHOOK,
        "connected",
        act=slack_call,
    ),
    Mistake("kook", "wrong token", "token: KOOK does not know it; copy it again", {"token": "wrong"}),
    Mistake("line", "wrong token", "issue a long-lived token on the page", {"channel_access_token": "wrong"}),
    Mistake("line", "webhook off", "switch on Use webhook", state="connected", prepare=webhook_off),
    Mistake(
        "line",
        "wrong signing secret",
        "channel_secret must be the one of the page",
        {"channel_secret": "wrong"},
        "connected",
        act=signed_call,
    ),
    Mistake("satori", "wrong token", "token: the Satori server does not accept it; enter", {"token": "wrong"}),
    Mistake("satori", "no such account", "check platform and self_id", {"self_id": "nobody"}, "connected"),
    Mistake("email", "wrong password", "check username and password", {"password": "wrong"}),
    Mistake("email", "missing folder", "there is no such folder", {"folder": "Missing"}, "connecting"),
    Mistake("whatsapp", "wrong token", "create a token of a system user", {"access_token": "wrong"}),
    Mistake("whatsapp", "wrong number", "copy the id, which is not the number", {"phone_number_id": "4915"}),
    Mistake(
        "whatsapp",
        "wrong webhook",
        "calls another address; its webhook must end with",
        state="connected",
        prepare=webhook_elsewhere,
    ),
    Mistake(
        "whatsapp",
        "wrong signing secret",
        "app_secret must be the secret of the app",
        {"app_secret": "wrong"},
        "connected",
        act=signed_call,
    ),
    Mistake(
        "whatsapp",
        "wrong verify token",
        "verify_token must be the one that is entered",
        {"verify_token": "wrong"},
        "connected",
        act=verification,
    ),
    Mistake("mattermost", "wrong token", "create another one for the bot account", {"token": "wrong"}),
    Mistake("mattermost", "no team", "must add it to a team", state="connected", prepare=without_team),
    Mistake("irc", "wrong password", "does not accept the account and its password", {"sasl_password": "wrong"}),
    Mistake("irc", "closed channel", "invite the bot", state="connected", prepare=only_invited),
    Mistake("irc", "wrong nick", "nick: the IRC server does not accept it; choose", {"nick": "n" * 40}),
]
ADDRESSES = {"discord": "api_base_url", "slack": "api_base_url", "kook": "api_base_url", "line": "api_base_url",
             "satori": "endpoint", "whatsapp": "api_base_url", "mattermost": "url"}  # fmt: skip


def unreachable(platform: str) -> Mistake:
    """Returns the mistake of a wrong address."""
    if platform in ADDRESSES:
        address = f"http://127.0.0.1:{free_port()}"
        return Mistake(
            platform, "unreachable", "check the network, a proxy", {ADDRESSES[platform]: address}, "connecting"
        )
    ports = {"email": {"imap_port": free_port()}, "irc": {"port": free_port()}}
    return Mistake(platform, "unreachable", "host, port and", ports[platform], "connecting")


@pytest.mark.parametrize(
    "mistake", [*MISTAKES, *map(unreachable, NINE)], ids=lambda each: f"{each.platform}-{each.name}"
)
async def test_the_state_of_a_new_bot_says_what_to_do(mistake: Mistake) -> None:
    driver: Any = PLATFORMS[mistake.platform].driver()
    async with driver.running(), AsyncExitStack() as stack:
        mistake.prepare(driver)
        link = MemoryLink({**driver.config, **mistake.config})
        adapter = driver.create(link, Backoff(first_seconds=0.01, jitter=0))
        address = ""
        if isinstance(adapter, HookReceiver):
            address = await stack.enter_async_context(hooks_served(adapter))
            driver.called_at(address)
        state, words = await _first_minutes(adapter, link, mistake, lambda: mistake.act(driver, address))
    assert state == mistake.state
    assert mistake.words in words
    assert translate(words, "zh-Hans") != words
    assert not any(str(each) in words for each in mistake.config.values() if each == "wrong")


async def _first_minutes(
    adapter: Adapter, link: MemoryLink, mistake: Mistake, act: Callable[[], Awaitable[Any]]
) -> tuple[ConnectionState, str]:
    """Returns the state with the expected words, or the last one before the bot gave up."""
    work = asyncio.create_task(adapter.serve())
    link.watch(work)
    try:
        if mistake.act is not nothing:
            await link.until(lambda: link.now[0] == "connected" or work.done())
            await act()
        await link.until(lambda: mistake.words in link.now[1] or work.done())
        if work.done():
            error = work.exception()
            assert isinstance(error, AdapterStopped), error
            return "failed", str(error)
        return link.now
    finally:
        work.cancel()
        await asyncio.wait([work])
