"""Tests that mattermostdriver, unmodified, works with the simulator, which makes it valid evidence."""

import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from parlour.testing.mattermost_simulator import MattermostSimulator
from parlour.testing.mattermost_simulator.world import BOT_ID, make_id
from tests.support.harness import ROOT

pytestmark = pytest.mark.long
PYTHON = ROOT / ".tools" / "peers" / "mattermost" / "bin" / "python"
BOT = Path(__file__).with_name("mattermostdriver_bot.py")
START_SECONDS = 90.0
ANN, CHANNEL = make_id("ann"), make_id("talk")


@contextmanager
def library(folder: Path, address: str, token: str) -> Iterator[None]:
    assert PYTHON.exists(), "mattermostdriver is not installed; run: make peers"
    place = urlsplit(address)
    with (folder / "bot.log").open("wb") as log:
        command = [PYTHON, BOT, str(place.hostname), str(place.port), token]
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        yield
    finally:
        process.kill()
        process.wait(30)


@pytest.fixture
async def simulator(tmp_path: Path) -> AsyncIterator[MattermostSimulator]:
    simulator = MattermostSimulator()
    simulator.world.add_user("ann")
    simulator.world.add_channel("talk", ANN, channel_id=CHANNEL)
    async with simulator.listening() as address:
        with library(tmp_path, address, simulator.token):
            await simulator.until(lambda: simulator.gateway.connection is not None, START_SECONDS)
            yield simulator


async def test_mattermostdriver_receives_and_sends_through_the_simulator(simulator: MattermostSimulator) -> None:
    said = await simulator.say(CHANNEL, ANN, "grüße 👋")
    [reply] = await simulator.answered(1, CHANNEL)
    assert (reply.text, reply.payload["root_id"]) == ("you said: grüße 👋", said["id"])
    await simulator.until(lambda: (said["id"], BOT_ID, "thumbsup") in simulator.world.reactions)

    await simulator.say(CHANNEL, ANN, "!file")
    *_, sent = await simulator.answered(2, CHANNEL)
    [file_id] = sent.payload["file_ids"]
    assert simulator.world.files[file_id][1] == b"hello"

    await simulator.say(CHANNEL, ANN, "!edit")
    *_, edited = await simulator.answered(3, CHANNEL)
    await simulator.until(lambda: edited.versions == ["one", "two"])

    file = simulator.world.add_file("b.txt", b"world", "text/plain", CHANNEL)
    await simulator.say(CHANNEL, ANN, "!read", file_ids=[file["id"]])
    assert (await simulator.answered(4, CHANNEL))[-1].text == "world by channel_user"

    await simulator.say(CHANNEL, ANN, "!errors")
    report = (await simulator.answered(5, CHANNEL))[-1]
    assert report.text.splitlines() == ["InvalidOrMissingParameters", "NotEnoughPermissions", "ResourceNotFound"]

    connections = simulator.gateway.connections
    simulator.server.cut()
    await simulator.until(lambda: simulator.gateway.connections > connections, 60)
    await simulator.say(CHANNEL, ANN, "after")
    assert (await simulator.answered(6, CHANNEL, 60))[-1].text == "you said: after"
