"""Kills the Host twenty times under load: every accepted message is answered, or its user gets a notice."""

import asyncio
import random
from collections import Counter

import pytest

from parlour.core.delivery.notices import notice_text
from parlour.core.delivery.rendering.repeat_notes import DEFAULT_REPEAT_NOTE
from parlour.core.delivery.sender import UNKNOWN_REPLY
from parlour.testing.adapter_suite import PlatformDriver, SuiteChat
from tests.platforms.drivers import PLATFORMS
from tests.platforms.hooked_bots import hooked_bot
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host, Json

KILLS, CHATS, BURST = 20, 3, 3
SETTLE_SECONDS = 60.0
MAX_NUDGES = 10
NUDGE = "go on"
UNTOLD = "behaviour never-answered send"
"""Declared by platforms on which a user is not told about an uncertain reply."""
TOLD = notice_text("delivery.unknown")
CONFIG = {"email": {"hourly_limit": 1000}}
"""Fields of the bot's form without which the platform's own limits would be tested."""


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("platform", ["discord", "email", "lark", "line", "wechat", "whatsapp"])
async def test_twenty_kills_under_load_lose_no_message(tmp_path_factory: pytest.TempPathFactory, platform: str) -> None:
    """Covers a gateway, a mailbox, a long connection, webhooks, and polls."""
    generator, driver = random.Random(27), PLATFORMS[platform].driver()
    host = Host(tmp_path_factory.mktemp("own host"), **NO_RUN_LIMITS)
    host.install(ECHO_PLUGIN)
    host.start()
    try:
        async with hooked_bot(host, driver, host.agent(ECHO, "echo"), **CONFIG.get(platform, {})) as bot_id:
            chats = [await driver.chat() for _ in range(CHATS)]
            written: dict[str, list[str]] = {chat.id: [] for chat in chats}
            for kill in range(KILLS):
                enough = _shown(driver, chats) + generator.randint(1, CHATS * BURST)
                burst = [f"message {kill} {number}" for number in range(BURST)]
                for chat in chats:
                    written[chat.id] += burst
                writing = asyncio.gather(*(_say_all(driver, chat, burst) for chat in chats))
                await driver.until(lambda enough=enough: _shown(driver, chats) >= enough, SETTLE_SECONDS)  # type: ignore[misc]
                await asyncio.to_thread(host.kill)
                await asyncio.to_thread(host.start)
                driver.called_at(f"{host.address}/hooks/{bot_id}")
                await writing
            for chat in chats:
                await _settle(host, driver, chat, written[chat.id])
    finally:
        host.close()
    for chat in chats:
        answers = [text for text in driver.read(chat) if not text.startswith((NUDGE, TOLD))]
        extras = Counter(answers) - Counter(written[chat.id])
        assert [text for text in extras if not text.endswith(DEFAULT_REPEAT_NOTE)] == []
        assert extras.total() <= KILLS, "at most the one reply that was being sent in a chat is shown again"


async def _say_all(driver: PlatformDriver, chat: SuiteChat, texts: list[str]) -> None:
    """Writes in a chat while the Host is killed: where the platform calls the Host, each text waits for its answer."""
    for text in texts:
        await driver.say(chat, text)


async def _settle(host: Host, driver: PlatformDriver, chat: SuiteChat, texts: list[str]) -> None:
    """Waits until all messages of a chat are answered, or the user is told that an answer may be missing.

    Where replies are held until the next message, there is one. Where nothing is sent about an uncertain reply, because
    it would cost the operator, the trail of the message says it.
    """
    for number in range(MAX_NUDGES):
        try:
            await driver.until(lambda: _missing(driver, chat, texts) <= 0, SETTLE_SECONDS / 4)
            return
        except TimeoutError:
            if UNTOLD in driver.manifest.not_supported and _missing(driver, chat, texts) <= _noted(host, chat, texts):
                return
            await driver.say(chat, f"{NUDGE} {number}")
    raise AssertionError(f"{_missing(driver, chat, texts)} messages were neither answered nor told about")


def _missing(driver: PlatformDriver, chat: SuiteChat, texts: list[str]) -> int:
    """Returns how many messages have neither an answer, perhaps in its marked form, nor a notice."""
    shown = driver.read(chat)
    answered = {text.removesuffix(DEFAULT_REPEAT_NOTE) for text in shown}
    return len(set(texts) - answered) - sum(text.startswith(TOLD) for text in shown)


def _noted(host: Host, chat: SuiteChat, texts: list[str]) -> int:
    """Returns how many messages of a private chat have a reply that the operator sees as unknown."""
    events: list[Json] = []
    page: Json = {"next_cursor": ""}
    while (cursor := page["next_cursor"]) is not None:
        page = host.http().get("/events", params={"limit": 100, **({"cursor": cursor} if cursor else {})}).json()
        events += [each for each in page["items"] if each["actor_id"] == chat.id and each["input_summary"] in texts]
    trails = [host.http().get(f"/events/{each['event_id']}/why").json()["steps"] for each in events]
    return sum(any(UNKNOWN_REPLY in step["text"] for step in trail) for trail in trails)


def _shown(driver: PlatformDriver, chats: list[SuiteChat]) -> int:
    return sum(len(driver.read(chat)) for chat in chats)
