"""Tests that slack_sdk, unmodified, works with the simulator as with Slack, so that it is valid evidence."""

import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from parlour.testing.slack_simulator import SlackSimulator
from parlour.testing.slack_simulator.simulator import APP_TOKEN, BOT_TOKEN
from tests.support.harness import ROOT

pytestmark = pytest.mark.long
PYTHON = ROOT / ".tools" / "peers" / "slack" / "bin" / "python"
BOT = Path(__file__).with_name("slack_sdk_bot.py")
START_SECONDS = 90.0
CHANNEL, ANN = "CTALK", "UANN"


@contextmanager
def library(folder: Path, address: str) -> Iterator[None]:
    assert PYTHON.exists(), "slack_sdk is not installed; run: make peers"
    with (folder / "bot.log").open("wb") as log:
        command = [PYTHON, BOT, address, BOT_TOKEN, APP_TOKEN]
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        yield
    finally:
        process.kill()
        process.wait(30)


@pytest.fixture
async def simulator(tmp_path: Path) -> AsyncIterator[SlackSimulator]:
    simulator = SlackSimulator()
    simulator.limits["chat.postMessage"] = (100.0, 1.0)
    simulator.world.add_user("Ann", ANN)
    simulator.world.add_channel("talk", ANN, channel_id=CHANNEL)
    async with simulator.listening() as address:
        with library(tmp_path, address):
            await simulator.until(lambda: bool(simulator.socket_mode.sockets), START_SECONDS)
            yield simulator


async def test_slack_sdk_receives_and_sends_through_the_simulator(simulator: SlackSimulator) -> None:
    world = simulator.world
    said = await simulator.say("grüße 👋", ANN, CHANNEL)
    [reply] = await simulator.answered(1, CHANNEL)
    assert (reply.text, reply.payload["thread_ts"]) == ("you said: grüße 👋", said["ts"])
    await simulator.until(lambda: (said["ts"], "thumbsup", "U0BOT") in world.reactions)
    await simulator.until(lambda: not simulator.socket_mode.waiting)

    await simulator.say("!files", ANN, CHANNEL)
    *_, files = await simulator.answered(2, CHANNEL)
    assert (files.text, files.files) == ("files", [b"one", b"two"])

    await simulator.say("!buttons", ANN, CHANNEL)
    *_, asked = await simulator.answered(3, CHANNEL)
    await simulator.press(asked.payload, "Yes", ANN)
    await simulator.until(lambda: asked.versions == ["sure?", "pressed yes"])

    await simulator.command("/ask", "why", ANN, CHANNEL)
    assert (await simulator.answered(4, CHANNEL))[-1].text == "command why"

    await simulator.say("!errors", ANN, CHANNEL)
    report = (await simulator.answered(5, CHANNEL))[-1]
    assert report.text.splitlines() == [
        "channel_not_found",
        "msg_too_long",
        "cant_update_message",
        "invalid_name",
        "user_not_found",
    ]

    connections = simulator.socket_mode.connections
    await simulator.socket_mode.disconnect("refresh_requested")
    await simulator.until(lambda: simulator.socket_mode.connections > connections, 60)
    await simulator.say("after", ANN, CHANNEL)
    assert (await simulator.answered(6, CHANNEL, 60))[-1].text == "you said: after"
