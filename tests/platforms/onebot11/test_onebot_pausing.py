"""Tests a bot that is paused and resumed while users write to it: each received message is answered
and each run ends.
"""

import asyncio
from itertools import count

from parlour.testing.onebot_simulator import Simulator
from tests.support.harness import ECHO

from .qq import QQ, Bot, eventually, to_agent

PAUSES, PEOPLE, WORDS = 6, 8, 40


def switch(qq: QQ, bot: Bot, enabled: bool) -> None:
    made = qq.host.http().get(f"/bots/{bot.bot_id}").json()
    body = {name: made[name] for name in ("name", "adapter", "adapter_config")}
    answer = qq.host.http().put(f"/bots/{bot.bot_id}", json={**body, "enabled": enabled})
    assert answer.status_code == 200, answer.text


async def talk(simulator: Simulator, person: int) -> None:
    """Sends each message after the previous one was answered or the connection was cut."""
    chat = f"private:{person}"
    for number in count():
        answered, connections = len(simulator.sent(chat)), simulator.connections
        await simulator.say(f"word {person}.{number};", person)
        await simulator.until(
            lambda: len(simulator.sent(chat)) > answered or simulator.connections > connections  # noqa: B023
        )


def answers(simulator: Simulator) -> set[str]:
    """Returns the answers without the mark of possibly repeated ones."""
    return {f"{each.text.partition(';')[0]};" for each in simulator.sent()}


async def test_messages_received_while_a_bot_is_paused_are_answered(qq: QQ) -> None:
    agent_id = qq.host.agent(ECHO, "echo of who is interrupted")
    bot = qq.bot(to_agent(agent_id))
    async with bot.connected() as simulator:
        talking = [asyncio.create_task(talk(simulator, person)) for person in range(1, PEOPLE + 1)]
        for _ in range(PAUSES):
            await simulator.answered(len(simulator.sent()) + WORDS)
            await asyncio.to_thread(switch, qq, bot, False)
            await asyncio.to_thread(switch, qq, bot, True)
        for each in talking:
            each.cancel()
        await eventually(lambda: bot.status["state"] == "connected", "the bot is connected again")
        received = [
            each["input_summary"] for each in qq.host.items("/events", bot_id=bot.bot_id, type="message.received")
        ]
        await simulator.until(lambda: answers(simulator).issuperset(received))
    assert qq.host.items("/runs", agent_id=agent_id, status="running") == []
    bot.delete()
