"""Tests concurrent chats: a message of one chat is answered there and nowhere else, although
Telegram's pace is slow.
"""

import asyncio
import re
from collections import Counter

import pytest

from parlour.testing.telegram_simulator import Simulator, native
from tests.onebot.qq import to_agent

from .tg import Telegram

EACH, AT_ONCE = 250, 25
"""Tokens per chat, and per message: a chat accepts one message per second."""
CHATS = (1, 2, -1001, -1002)
TOKEN = re.compile(r"token-[0-9:-]+")


@pytest.mark.long
async def test_a_thousand_tokens_of_four_chats_stay_in_their_own_chat(tg: Telegram, echo: str) -> None:
    simulator = Simulator()
    for chat in CHATS[2:]:
        simulator.world.add_group(chat)
        simulator.world.add_member(chat, 7)
    async with tg.bot(to_agent(echo), simulator, enable_stream_reply=False):
        await asyncio.gather(*(talk(simulator, chat) for chat in CHATS))
        await simulator.until(lambda: len(simulator.sent()) >= len(CHATS) * EACH // AT_ONCE, seconds=90)
    for chat in CHATS:
        tokens = [token for text in simulator.texts(chat) for token in TOKEN.findall(text)]
        assert Counter(tokens) == Counter(f"token-{chat}-{number}" for number in range(EACH))
        assert tokens == [f"token-{chat}-{number}" for number in range(EACH)]


async def talk(simulator: Simulator, chat: int) -> None:
    name = f"@{simulator.world.bot['username']}"
    for first in range(0, EACH, AT_ONCE):
        words = " ".join(f"token-{chat}-{number}" for number in range(first, first + AT_ONCE))
        if chat > 0:
            await simulator.say(words, chat)
        else:
            await simulator.say(f"{name} {words}", 7, chat, entities=native.mention(f"{name} ", name))
