"""Tests the loop guard with another bot that is not marked as one and answers everything that ours
writes in a group.
"""

import asyncio
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from parlour.core.delivery.notices import notice_text
from parlour.testing.onebot_simulator import Simulator
from tests.support.harness import ECHO, ECHO_PLUGIN, Host, Json

from .qq import QQ, event_id, eventually, to_agent

GROUP = 7
OTHER_BOT = 42
PER_MINUTE = 20


@pytest.fixture
def own(tmp_path: Path) -> Iterator[QQ]:
    host = Host(tmp_path)
    host.install(ECHO_PLUGIN)
    host.start()
    yield QQ(host)
    host.close()


async def test_a_loop_of_two_bots_in_one_group_is_stopped_by_the_default_limits(own: QQ) -> None:
    bot = own.bot(to_agent(own.host.agent(ECHO)))
    async with bot.connected() as simulator:
        said = [await simulator.say("so it begins", user_id=OTHER_BOT, group_id=GROUP)]
        answering = asyncio.create_task(answer(simulator, said))
        await eventually(lambda: is_rate_limited(own, said[-1]), "a message is one too many")
        answering.cancel()
        await asyncio.wait([answering])
    answers = [each for each in simulator.sent() if each.text != notice_text("limited.sender")]
    assert len(answers) == PER_MINUTE


async def answer(simulator: Simulator, said: list[Json]) -> None:
    for number in count(1):
        answer_of_ours = (await simulator.answered(number))[-1]
        said.append(await simulator.say(answer_of_ours.text, user_id=OTHER_BOT, group_id=GROUP))


def is_rate_limited(own: QQ, last: Json) -> bool:
    answer = own.host.http().get(f"/events/{event_id(last)}/why")
    steps = answer.json()["steps"] if answer.status_code == 200 else []
    return any("its sender has had the runs of this minute" in step["text"] for step in steps)


async def test_a_busy_group_of_people_is_not_treated_as_a_loop(own: QQ) -> None:
    people = range(9_000, 9_000 + PER_MINUTE + 10)
    bot = own.bot(to_agent(own.host.agent(ECHO)))
    async with bot.connected() as simulator:
        for person in people:
            await simulator.say(f"from {person}", user_id=person, group_id=GROUP)
        await simulator.answered(len(people))
    assert sorted(each.text for each in simulator.sent()) == [f"from {person}" for person in people]
