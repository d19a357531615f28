"""Tests that line-bot-sdk, unmodified, works with the simulator as with LINE, so that it is valid evidence."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from parlour.testing.line_simulator import LineSimulator
from parlour.testing.line_simulator.simulator import ACCESS_TOKEN, CHANNEL_SECRET
from parlour.testing.line_simulator.world import BOT_USER
from tests.support.harness import ROOT

pytestmark = pytest.mark.long
PYTHON = ROOT / ".tools" / "peers" / "line" / "bin" / "python"
BOT = Path(__file__).with_name("line_sdk_bot.py")


@contextmanager
def library(folder: Path, address: str) -> Iterator["subprocess.Popen[bytes]"]:
    with (folder / "bot.log").open("wb") as log:
        command = [PYTHON, BOT, address, ACCESS_TOKEN, CHANNEL_SECRET]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, cwd=folder)
    try:
        yield process
    finally:
        process.kill()
        process.wait(30)


@pytest.fixture
async def simulator(tmp_path: Path) -> AsyncIterator[LineSimulator]:
    assert PYTHON.exists(), "line-bot-sdk is not installed; run: make peers"
    simulator = LineSimulator()
    simulator.redelivers = False
    async with simulator.listening() as address:
        with library(tmp_path, address) as process:
            assert process.stdout is not None
            simulator.request_url = (await asyncio.to_thread(process.stdout.readline)).decode().strip()
            yield simulator


async def test_line_bot_sdk_receives_and_sends_through_the_simulator(simulator: LineSimulator) -> None:
    ann = simulator.world.add_user("Ann")
    await simulator.say("grüße 👋", ann, ann)
    [answer] = await simulator.answered(1)
    assert (answer.text, answer.is_reply) == ("you said: grüße 👋", True)

    await simulator.send_file("image", b"hello", ann, ann)
    assert (await simulator.answered(2))[-1].text == "5 bytes"

    await simulator.report(simulator.event("follow", ann, ann, follow={"isUnblocked": False}))
    assert (await simulator.answered(3))[-1].text == "welcome Ann"

    await simulator.report(simulator.event("postback", ann, ann, postback={"data": "yes"}))
    assert (await simulator.answered(4))[-1].text == "pressed yes"

    await simulator.say("!push", ann, ann)
    *_, pushed, report = await simulator.answered(6)
    assert (pushed.text, pushed.is_reply, report.text) == ("pushed", False, f"{pushed.message_id} 409")

    await simulator.say("!errors", ann, ann)
    assert (await simulator.answered(7))[-1].text == "400 400 404 400"

    forged = simulator.message(ann, ann, type="text", text="forged")
    assert await simulator.call_bot({"destination": BOT_USER, "events": [forged]}, secret="wrong") == 400
