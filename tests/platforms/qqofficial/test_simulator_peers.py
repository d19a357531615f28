"""Tests that nonebot-adapter-qq, unmodified, works as a bot on the simulated QQ."""

import asyncio
import os
from pathlib import Path

import pytest

from parlour.testing.qqofficial_simulator import QQSimulator
from parlour.testing.qqofficial_simulator.simulator import APP, SECRET
from tests.platforms.qqofficial.driver import ANN
from tests.support.harness import ROOT

pytestmark = pytest.mark.long
PYTHON = ROOT / ".tools" / "peers" / "qqofficial" / "bin" / "python"
PROGRAM = Path(__file__).with_name("nonebot_qq_bot.py")
GROUP = "C9F778FE6ADF9D1D1DBE395BF744A33A"


async def test_nonebot_identifies_replies_under_numbers_and_resumes() -> None:
    assert PYTHON.exists(), "nonebot-adapter-qq is not installed; run: make peers"
    simulator = QQSimulator()
    simulator.gateway.heartbeat_interval = 200
    async with simulator.listening() as url:
        environment = {**os.environ, "PYTHONPATH": ""}
        process = await asyncio.create_subprocess_exec(
            PYTHON, "-W", "ignore", PROGRAM, url, APP, SECRET, env=environment
        )
        try:
            await simulator.until(lambda: simulator.gateway.identified == 1, 60)
            await simulator.say("hello", ANN)
            await simulator.say("group", ANN, GROUP)
            await simulator.answered(2)
            await simulator.until(lambda: simulator.gateway.beats >= 2)
        finally:
            process.kill()
            await process.wait()
    assert simulator.texts(ANN) == ["hello"]
    assert simulator.texts(GROUP) == ["group"]
    assert all(each.body["msg_id"] and each.body["msg_seq"] == 1 for each in simulator.sent())
