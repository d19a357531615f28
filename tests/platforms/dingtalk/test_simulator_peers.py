"""Tests that dingtalk-stream, unmodified, works as a robot on the simulated DingTalk."""

import asyncio
import os
from pathlib import Path

import pytest

from parlour.testing.dingtalk_simulator import DingTalkSimulator
from parlour.testing.dingtalk_simulator.simulator import CLIENT, SECRET
from tests.support.harness import ROOT

pytestmark = pytest.mark.long
PYTHON = ROOT / ".tools" / "peers" / "dingtalk" / "bin" / "python"
PROGRAM = Path(__file__).with_name("dingtalk_stream_bot.py")


async def test_the_sdk_connects_acknowledges_replies_and_streams_a_card() -> None:
    assert PYTHON.exists(), "dingtalk-stream is not installed; run: make peers"
    simulator = DingTalkSimulator()
    simulator.add_user("0123ann", "Ann")
    async with simulator.listening() as url:
        environment = {**os.environ, "DINGTALK_OPENAPI_ENDPOINT": url, "PYTHONPATH": ""}
        process = await asyncio.create_subprocess_exec(PYTHON, "-W", "ignore", PROGRAM, CLIENT, SECRET, env=environment)
        try:
            await simulator.until(lambda: simulator.stream.connections == 1)
            await simulator.say("hello", "0123ann")
            await simulator.answered(1, "0123ann")
            await simulator.until(lambda: not simulator.stream.waiting)
            await simulator.say("card", "0123ann", "cidZ2k==")
            await simulator.until(lambda: any(each.finalized for each in simulator.sent("cidZ2k==")))
            await simulator.stream.system("ping", {"opaque": "7"})
            await simulator.until(lambda: {"opaque": "7"} in simulator.stream.pongs)
        finally:
            process.kill()
            await process.wait()
    assert simulator.texts("0123ann") == ["hello"]
    assert [each.versions for each in simulator.sent("cidZ2k==")] == [["gro", "grown"]]
