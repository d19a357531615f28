"""Chats at the same time: what is said in one is answered there and nowhere else."""

import asyncio
import re
from collections import Counter

from parlour.testing.onebot_simulator import Simulator, native

from .qq import QQ, to_agent

EACH = 250
CHATS = ("private:1", "private:2", "group:1", "group:2")
TOKEN = re.compile(r"token-[a-z0-9:-]+")


async def test_a_thousand_tokens_in_four_chats_stay_in_their_own(qq: QQ, echo: str) -> None:
    bot = qq.bot(to_agent(echo))
    async with bot.connected() as simulator:
        await asyncio.gather(*(talk(simulator, chat) for chat in CHATS))
        await simulator.until(lambda: len(simulator.sent()) >= EACH * len(CHATS), seconds=90)
        shown = {
            chat: Counter(TOKEN.findall("".join(f"{each.text} " for each in simulator.sent(chat)))) for chat in CHATS
        }
    bot.delete()
    for chat in CHATS:
        assert shown[chat] == Counter({token(chat, number): 1 for number in range(EACH)})
        assert in_order([each.text for each in simulator.sent(chat)], chat)


async def talk(simulator: Simulator, chat: str) -> None:
    kind, _, name = chat.partition(":")
    for number in range(EACH):
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
