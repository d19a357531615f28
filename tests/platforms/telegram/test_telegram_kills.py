"""Tests that each message on Telegram is answered or its sender notified, although the Host is killed repeatedly.

Telegram keeps an update until the Host has confirmed it, so no message is lost. Telegram can't say whether a send whose
answer was lost has arrived: it may be sent once more, marked as repeated.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from parlour.core.delivery.rendering.repeat_notes import DEFAULT_REPEAT_NOTE
from parlour.testing.telegram_simulator import Simulator
from tests.platforms.onebot11.qq import eventually, to_agent
from tests.platforms.onebot11.test_onebot_kills import check_outcomes, pending_rows
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host, Json

from .tg import Telegram

CHATS, KILLS = 40, 5


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Telegram]:
    host = Host(tmp_path, **NO_RUN_LIMITS)
    host.install(ECHO_PLUGIN)
    host.start()
    yield Telegram(host)
    host.close()


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_every_message_is_answered_although_the_host_is_killed_five_times(own: Telegram) -> None:
    chance, simulator, said = random.Random(5), Simulator(), list[Json]()
    async with own.bot(to_agent(own.host.agent(ECHO)), simulator) as bot:
        talking = asyncio.create_task(talk(simulator, said))
        for _ in range(KILLS):
            before = len(simulator.sent())
            await simulator.until(lambda before=before: len(simulator.sent()) > before)  # type: ignore[misc]
            await asyncio.sleep(chance.uniform(0.2, 0.6))
            await asyncio.to_thread(own.host.kill)
            await asyncio.to_thread(own.host.start)
        talking.cancel()
        await asyncio.wait([talking])
        await simulator.until(lambda: not simulator.updates.waiting)
        await eventually(lambda: pending_rows(own.host.data) == 0, "nothing is pending any more", 120)
        shown = Counter((each.chat_id, each.text.removesuffix(DEFAULT_REPEAT_NOTE)) for each in simulator.sent())
        for message in said:
            key = (message["chat"]["id"], message["text"])
            assert shown[key] or own.deliveries(bot, message), f"{key} was neither answered nor its sender notified"
    check_outcomes(own.host.data)
    for (chat, text), number in shown.items():
        if number > 1 and text.startswith("token-"):
            copies = [each for each in simulator.texts(chat) if each.removesuffix(DEFAULT_REPEAT_NOTE) == text]
            assert [each.endswith(DEFAULT_REPEAT_NOTE) for each in copies] == [False, True], (
                "the second one says that it is"
            )


async def talk(simulator: Simulator, said: list[Json]) -> None:
    while True:
        said.append(await simulator.say(f"token-{len(said)}.", user=1 + len(said) % CHATS))
        await asyncio.sleep(0.1)
