"""Kills the Host twenty times under load: every accepted message is answered, or its user gets a notice."""

import asyncio
import random
from collections import Counter

import pytest

from parlour.core.delivery.notices import notice_text
from parlour.core.delivery.rendering.repeat_notes import DEFAULT_REPEAT_NOTE
from parlour.testing.adapter_suite import PlatformDriver, SuiteChat
from tests.platforms.drivers import PLATFORMS
from tests.platforms.hooked_bots import hooked_bot
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host

KILLS, CHATS, BURST = 20, 3, 3
SETTLE_SECONDS = 60.0
MAX_NUDGES = 10
NUDGE = "go on"
TOLD = notice_text("delivery.unknown")
CONFIG = {"email": {"hourly_limit": 1000}}
"""Fields of the bot's form without which the platform's own limits would be tested."""


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("platform", ["discord", "email", "lark", "wechat"])
async def test_twenty_kills_under_load_lose_no_message(tmp_path_factory: pytest.TempPathFactory, platform: str) -> None:
    """Covers a gateway, a mailbox, a long connection, and polls."""
    generator, driver = random.Random(27), PLATFORMS[platform].driver()
    host = Host(tmp_path_factory.mktemp("own host"), **NO_RUN_LIMITS)
    host.install(ECHO_PLUGIN)
    host.start()
    try:
        async with hooked_bot(host, driver, host.agent(ECHO, "echo"), **CONFIG.get(platform, {})) as bot_id:
            chats = [await driver.chat() for _ in range(CHATS)]
            written: dict[str, list[str]] = {chat.id: [] for chat in chats}
            for kill in range(KILLS):
                for number in range(BURST):
                    for chat in chats:
                        written[chat.id].append(f"message {kill} {number}")
                        await driver.say(chat, written[chat.id][-1])
                enough = _shown(driver, chats) + generator.randint(1, BURST)
                await driver.until(lambda enough=enough: _shown(driver, chats) >= enough, SETTLE_SECONDS)  # type: ignore[misc]
                await asyncio.to_thread(host.kill)
                await asyncio.to_thread(host.start)
                driver.called_at(f"{host.address}/hooks/{bot_id}")
            for chat in chats:
                await _settle(driver, chat, written[chat.id])
    finally:
        host.close()
    for chat in chats:
        answers = [text for text in driver.read(chat) if not text.startswith((NUDGE, TOLD))]
        extras = Counter(answers) - Counter(written[chat.id])
        assert all(text.endswith(DEFAULT_REPEAT_NOTE) for text in extras)
        assert extras.total() <= KILLS, "at most the one reply that was being sent in a chat is shown again"


async def _settle(driver: PlatformDriver, chat: SuiteChat, texts: list[str]) -> None:
    """Waits until all messages of a chat are answered, or the user is told that an answer may be missing.

    Where replies are held until the next message, there is one.
    """
    for number in range(MAX_NUDGES):
        try:
            await driver.until(lambda: _missing(driver, chat, texts) <= 0, SETTLE_SECONDS / 4)
            return
        except TimeoutError:
            await driver.say(chat, f"{NUDGE} {number}")
    raise AssertionError(f"{_missing(driver, chat, texts)} messages were neither answered nor told about")


def _missing(driver: PlatformDriver, chat: SuiteChat, texts: list[str]) -> int:
    """Returns how many messages have neither an answer, perhaps in its marked form, nor a notice."""
    shown = driver.read(chat)
    answered = {text.removesuffix(DEFAULT_REPEAT_NOTE) for text in shown}
    return len(set(texts) - answered) - sum(text.startswith(TOLD) for text in shown)


def _shown(driver: PlatformDriver, chats: list[SuiteChat]) -> int:
    return sum(len(driver.read(chat)) for chat in chats)
