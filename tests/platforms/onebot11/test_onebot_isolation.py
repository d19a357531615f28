"""Tests concurrent chats: a message of one chat is answered there and nowhere else."""

import asyncio
import re
from collections import Counter

import pytest

from parlour.testing.onebot_simulator import Simulator, native

from .qq import QQ, to_agent

CHATS = ("private:1", "private:2", "group:1", "group:2")
TOKEN = re.compile(r"token-[a-z0-9:-]+")


@pytest.mark.long
@pytest.mark.timeout(300)
async def test_thousands_of_tokens_of_four_concurrent_chats_stay_in_their_own_chat(qq: QQ, echo: str) -> None:
    each = 1000
    bot = qq.bot(to_agent(echo))
    async with bot.connected() as simulator:
        await asyncio.gather(*(talk(simulator, chat, each) for chat in CHATS))
        await simulator.until(lambda: len(simulator.sent()) >= each * len(CHATS), seconds=240)
        shown = {chat: tokens(simulator, chat) for chat in CHATS}
    bot.delete()
    for chat in CHATS:
        assert shown[chat] == Counter({token(chat, number): 1 for number in range(each)})
        assert in_order([each.text for each in simulator.sent(chat)], chat)


async def talk(simulator: Simulator, chat: str, each: int) -> None:
    kind, _, name = chat.partition(":")
    for number in range(each):
        words = native.text(f" {token(chat, number)} ")
        if kind == "group":
            await simulator.say([native.segment("at", qq=str(simulator.self_id)), words], 7, group_id=int(name))
        else:
            await simulator.say([words], user_id=int(name))


def tokens(simulator: Simulator, chat: str) -> Counter[str]:
    return Counter(token for sent in simulator.sent(chat) for token in TOKEN.findall(sent.text))


def token(chat: str, number: int) -> str:
    return f"token-{chat}-{number}"


def in_order(texts: list[str], chat: str) -> bool:
    numbers = [int(found[0].rpartition("-")[2]) for text in texts if (found := TOKEN.findall(text))]
    return numbers == sorted(numbers)
