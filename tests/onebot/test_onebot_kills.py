"""The Host is killed again and again while people write on QQ: what it had accepted is answered, or they are told.

OneBot acknowledges nothing, so what was on its way in when the Host died is nobody's promise. A send whose answer was
lost is looked for in the chat's history; where that does not tell, it may be shown once more, and then says so.
"""

import asyncio
import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from parlour.core.delivery.rendering.repeats import MARK
from parlour.testing.onebot_simulator import Simulator
from tests.integration.harness import ECHO, ECHO_PLUGIN, Host, Json

from .qq import QQ, event_id, eventually, to_agent

CHATS = 25


@pytest.fixture
def own(tmp_path: Path) -> Iterator[QQ]:
    host = Host(tmp_path, PARLOUR__RUNS__PER_CONVERSATION_PER_MINUTE=0)
    host.install(ECHO_PLUGIN)
    host.start()
    yield QQ(host)
    host.close()


async def test_what_was_accepted_is_answered_though_the_host_is_killed_three_times(own: QQ) -> None:
    await killed(own, kills=3, rate=100, seconds=(0.2, 0.6), seed=3)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("asked", [True, False], ids=["with a history", "without"])
async def test_what_was_accepted_is_answered_though_the_host_is_killed_twenty_times(own: QQ, asked: bool) -> None:
    await killed(own, kills=20, rate=200, seconds=(0.2, 2), seed=20, asked=asked)


async def killed(own: QQ, kills: int, rate: float, seconds: tuple[float, float], seed: int, asked: bool = True) -> None:
    """`asked` says whether the platform can be asked for what it has shown."""
    chance = random.Random(seed)
    bot = own.bot(to_agent(own.host.agent(ECHO)))
    said: list[Json] = []
    under_way = 0
    async with bot.connected() as simulator:
        simulator.world.has_history = asked
        talking = asyncio.create_task(talk(simulator, said, rate))
        for _ in range(kills):
            before, connections = len(simulator.sent()), simulator.connections
            await simulator.until(lambda before=before: len(simulator.sent()) > before)  # type: ignore[misc]
            await asyncio.sleep(chance.uniform(*seconds))
            await asyncio.to_thread(own.host.kill)
            under_way += sending(own.host.data)
            await asyncio.to_thread(own.host.start)
            await simulator.until(lambda connections=connections: simulator.connections > connections)  # type: ignore[misc]
        talking.cancel()
        await asyncio.wait([talking])
        await eventually(lambda: owed(own.host.data) == 0, "nothing is owed any more", 120)
    check(own, simulator, accepted(own.host.data, said), kills if asked else under_way)


async def talk(simulator: Simulator, said: list[Json], rate: float) -> None:
    while True:
        number = len(said)
        said.append(await simulator.say(f"token-{number}.", user_id=1 + number % CHATS))
        await asyncio.sleep(1 / rate)


def check(own: QQ, simulator: Simulator, events: list[Json], allowed: int) -> None:
    assert events
    shown = Counter((each.chat, each.text.removesuffix(MARK)) for each in simulator.sent())
    for event in events:
        [segment] = event["message"]
        key = (f"private:{event['user_id']}", segment["data"]["text"])
        assert shown[key] or own.deliveries(event), f"{key} was neither answered nor its sender told"
    extras = Counter({key: number - 1 for key, number in shown.items() if number > 1 and "token-" in key[1]})
    assert sum(extras.values()) <= allowed
    for chat, text in extras:
        copies = [each.text for each in simulator.sent(chat) if each.text.removesuffix(MARK) == text]
        assert [each.endswith(MARK) for each in copies] == [False, True], "the second one says that it is"


def accepted(data: Path, said: list[Json]) -> list[Json]:
    with closing(sqlite3.connect(data / "parlour.db")) as database:
        kept = {name for (name,) in database.execute("SELECT event_id FROM events")}
    return [event for event in said if event_id(event) in kept]


def sending(data: Path) -> int:
    """Messages whose fate nobody knows."""
    with closing(sqlite3.connect(data / "parlour.db")) as database:
        [(under_way,)] = database.execute("SELECT count(*) FROM outbox WHERE state = 'sending'")
    return int(under_way)


def owed(data: Path) -> int:
    with closing(sqlite3.connect(data / "parlour.db")) as database:
        [(inbox,)] = database.execute("SELECT count(*) FROM inbox")
        [(outbox,)] = database.execute("SELECT count(*) FROM outbox WHERE state IN ('pending', 'sending', 'streaming')")
    return int(inbox) + int(outbox)
