"""Tests that pywa, unmodified, works with the simulator as with WhatsApp, so that it is valid evidence."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from parlour.testing.whatsapp_simulator import WhatsAppSimulator
from parlour.testing.whatsapp_simulator.simulator import ACCESS_TOKEN, APP_SECRET, VERIFY_TOKEN
from parlour.testing.whatsapp_simulator.world import NUMBER_ID
from tests.support.harness import ROOT

pytestmark = pytest.mark.long
PYTHON = ROOT / ".tools" / "peers" / "whatsapp" / "bin" / "python"
BOT = Path(__file__).with_name("pywa_bot.py")


@contextmanager
def library(folder: Path, address: str) -> Iterator["subprocess.Popen[bytes]"]:
    with (folder / "bot.log").open("wb") as log:
        command = [PYTHON, BOT, address, NUMBER_ID, ACCESS_TOKEN, APP_SECRET, VERIFY_TOKEN]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, cwd=folder)
    try:
        yield process
    finally:
        process.kill()
        process.wait(30)


@pytest.fixture
async def simulator(tmp_path: Path) -> AsyncIterator[WhatsAppSimulator]:
    assert PYTHON.exists(), "pywa is not installed; run: make peers"
    simulator = WhatsAppSimulator()
    simulator.redelivers = False
    async with simulator.listening() as address:
        with library(tmp_path, address) as process:
            assert process.stdout is not None
            simulator.request_url = (await asyncio.to_thread(process.stdout.readline)).decode().strip()
            yield simulator


async def test_pywa_receives_and_sends_through_the_simulator(simulator: WhatsAppSimulator) -> None:
    ann = simulator.world.add_user("Ann")
    assert await simulator.verify() == (200, "1158201444")
    assert (await simulator.verify("wrong"))[0] == 403

    said = await simulator.say("grüße 👋", ann)
    [answer] = await simulator.answered(1)
    assert (answer.text, answer.payload["context"]) == ("you said: grüße 👋", {"message_id": said["id"]})

    await simulator.send_file("image", b"hello", "image/jpeg", ann, caption="a cat")
    assert (await simulator.answered(2))[-1].text == "5 bytes, a cat"

    await simulator.say("!buttons", ann)
    await simulator.press((await simulator.answered(3))[-1], "No", ann)
    assert (await simulator.answered(4))[-1].text == "pressed no"

    await simulator.say("!list", ann)
    await simulator.press((await simulator.answered(5))[-1], "row 3", ann)
    assert (await simulator.answered(6))[-1].text == "chose r3"

    asked = await simulator.say("!react", ann)
    await simulator.until(lambda: simulator.world.typing == [ann])
    assert simulator.world.reactions == [(asked["id"], "👍")]
    assert asked["id"] in simulator.world.read

    await simulator.post(simulator.message(ann, type="reaction", reaction={"message_id": asked["id"], "emoji": "🎉"}))
    assert (await simulator.answered(7))[-1].text == "felt 🎉"

    await simulator.say("!file", ann)
    assert (await simulator.answered(8))[-1].content == b"hello"

    await simulator.say("!number", ann)
    assert (await simulator.answered(9))[-1].text == "Parlour"

    await simulator.say("!errors", ann)
    report = (await simulator.answered(10))[-1].text.split()
    assert len(report) == 5
    assert "accepted" not in report

    assert await simulator.call_bot(b"{}", secret="wrong") == 403
