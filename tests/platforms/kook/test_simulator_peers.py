"""Tests that khl.py, unmodified, works with the simulator as with KOOK, so that it is valid evidence."""

import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from parlour.testing.kook_simulator import KookSimulator
from tests.support.harness import ROOT

pytestmark = pytest.mark.long
PYTHON = ROOT / ".tools" / "peers" / "kook" / "bin" / "python"
BOT = Path(__file__).with_name("khl_bot.py")
START_SECONDS = 90.0
ANN, GUILD, CHANNEL = "28629", "6016", "6186"


@contextmanager
def library(folder: Path, address: str, token: str) -> Iterator[None]:
    assert PYTHON.exists(), "khl.py is not installed; run: make peers"
    with (folder / "bot.log").open("wb") as log:
        process = subprocess.Popen([PYTHON, BOT, address, token], stdout=log, stderr=log, cwd=folder)
    try:
        yield
    finally:
        process.kill()
        process.wait(30)


@pytest.fixture
async def simulator(tmp_path: Path) -> AsyncIterator[KookSimulator]:
    simulator = KookSimulator()
    simulator.world.add_user("Ann", ANN)
    simulator.world.add_guild("The Server", GUILD, ANN)
    simulator.world.add_channel(GUILD, "talk", CHANNEL)
    async with simulator.listening() as address:
        with library(tmp_path, address, simulator.token):
            await simulator.until(lambda: simulator.gateway.session is not None, START_SECONDS)
            yield simulator


async def test_khl_receives_and_sends_through_the_simulator(simulator: KookSimulator) -> None:
    said = await simulator.say("GROUP", CHANNEL, ANN, "grüße 👋")
    [reply] = await simulator.answered(1, CHANNEL)
    assert (reply.text, reply.payload["quote"]["rong_id"]) == ("you said: grüße 👋", said["id"])
    await simulator.until(lambda: (said["id"], "👍") in simulator.world.reactions)

    await simulator.say("GROUP", CHANNEL, ANN, "!buttons")
    *_, asked = await simulator.answered(2, CHANNEL)
    assert asked.text == "sure?"
    await simulator.press(asked, "Yes", ANN)
    assert (await simulator.answered(3, CHANNEL))[-1].text == "pressed yes"

    await simulator.say("GROUP", CHANNEL, ANN, "!errors")
    assert (await simulator.answered(4, CHANNEL))[-1].text == "refused 40000"
