"""Tests that wecom-aibot-sdk, unmodified, works as a bot on the simulated WeCom, and reads its encrypted files."""

import asyncio
import base64
import os
from pathlib import Path

import pytest

from parlour.testing.wecombot_simulator import WecomBotSimulator
from parlour.testing.wecombot_simulator.files import encrypt_file
from parlour.testing.wecombot_simulator.simulator import BOT, SECRET
from tests.support.harness import ROOT

pytestmark = pytest.mark.long
PYTHON = ROOT / ".tools" / "peers" / "wecom" / "bin" / "python"
PROGRAM = Path(__file__).with_name("aibot_sdk_peer.py")
DECRYPT = (
    "import sys; from wecom_aibot_sdk.crypto import decrypt_file;"
    "sys.stdout.buffer.write(decrypt_file(open(sys.argv[1], 'rb').read(), sys.argv[2]))"
)


async def test_the_sdk_logs_in_streams_uploads_and_sends() -> None:
    simulator = WecomBotSimulator()
    async with simulator.listening() as url:
        process = await asyncio.create_subprocess_exec(PYTHON, "-W", "ignore", PROGRAM, BOT, SECRET, url)
        try:
            await simulator.until(lambda: simulator.socket is not None)
            await simulator.say("hello", "ann")
            await simulator.answered(2, "ann")
            await simulator.until(lambda: "ping" in simulator.made)
            await simulator.say("end", "ann")
            assert await asyncio.wait_for(process.wait(), 30) == 0
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    stream, file = simulator.sent("ann")
    assert (stream.versions, stream.finished) == (["hel", "hello"], True)
    assert simulator.files.media[file.content["media_id"]][2] == b"x" * 700_000


async def test_the_sdk_decrypts_the_files_of_the_simulator(tmp_path: Path) -> None:
    for number, size in enumerate((0, 1, 31, 32, 33, 1000)):
        data, key = os.urandom(size), os.urandom(32)
        path = tmp_path / f"{number}"
        path.write_bytes(encrypt_file(data, key))
        encoded = base64.b64encode(key).decode().rstrip("=")
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(PYTHON, "-c", DECRYPT, path, encoded, stdout=pipe)
        assert (await process.communicate())[0] == data
