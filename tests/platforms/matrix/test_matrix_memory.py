"""Tests the memory of a platform: nothing while no bot uses it, little when one does."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest

from parlour.testing.onebot_simulator import Simulator as OneBotSimulator
from parlour.testing.synapse_server import SynapseServer
from parlour.testing.telegram_simulator import Simulator as TelegramSimulator
from tests.platforms.onebot11.qq import QQ, eventually, to_plugins
from tests.support.harness import Host

from .world import World

MAX_TOTAL_MB, MAX_PLATFORM_MB = 200, 40
"""Limits in megabytes."""


@pytest.mark.long
@pytest.mark.quiet
async def test_a_bot_of_each_platform_in_one_host_costs_little(tmp_path: Path, synapse: SynapseServer) -> None:
    host = Host(tmp_path)
    host.start()
    sizes = {"none": megabytes(host)}
    try:
        async with AsyncExitStack() as stack:
            qq = QQ(host).bot(to_plugins())
            simulator = await stack.enter_async_context(qq.connected(OneBotSimulator()))
            await simulator.say("hello")
            await events(host, 1)
            sizes["onebot11"] = megabytes(host)

            bot = await stack.enter_async_context(World(host, synapse).bot(to_plugins()))
            ann = await stack.enter_async_context(World(host, synapse).person())
            await ann.say(await ann.room(bot.user_id), "**hello**")
            await events(host, 3)
            sizes["matrix"] = megabytes(host)

            telegram = TelegramSimulator()
            address = await stack.enter_async_context(telegram.listening())
            made = connect(host, "telegram", mode="polling", token=telegram.token, api_base_url=address)
            await eventually(lambda: connected(host, made), "the bot is connected")
            await telegram.say("hello")
            await events(host, 4)
            sizes["telegram"] = megabytes(host)
    finally:
        host.close()
    steps = {name: size - before for (name, size), before in zip([*sizes.items()][1:], sizes.values(), strict=False)}
    assert all(step < MAX_PLATFORM_MB for step in steps.values()), steps
    assert sizes["telegram"] < MAX_TOTAL_MB, sizes


def connect(host: Host, adapter: str, **config: Any) -> str:
    answer = host.http().post("/bots", json={"name": adapter, "adapter": adapter, "adapter_config": config})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["bot_id"])


def connected(host: Host, bot_id: str) -> bool:
    return bool(host.http().get(f"/bots/{bot_id}").json()["status"]["state"] == "connected")


async def events(host: Host, number: int) -> None:
    await eventually(lambda: len(host.items("/events")) >= number, f"{number} events came in")


def megabytes(host: Host) -> float:
    """Returns the memory of the Host and all its processes."""
    processes: list[psutil.Process] = [host.process, *host.process.children(recursive=True)]
    return sum(each.memory_info().rss for each in processes) / 2**20
