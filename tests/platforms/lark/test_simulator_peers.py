"""Tests that lark-oapi, unmodified, works with the simulator as with Feishu, so that it is valid evidence."""

import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from parlour.platforms._kit.encrypted_callbacks import decrypt_with_secret, encrypt_with_secret
from parlour.testing.lark_simulator import LarkSimulator
from parlour.testing.lark_simulator.simulator import APP_ID, APP_SECRET, ENCRYPT_KEY, VERIFICATION_TOKEN
from tests.support.harness import ROOT

pytestmark = pytest.mark.long
PYTHON = ROOT / ".tools" / "peers" / "lark" / "bin" / "python"
BOT = Path(__file__).with_name("lark_oapi_bot.py")
START_SECONDS = 90.0
CHAT, ANN = "oc_talk", "ou_ann"


@contextmanager
def library(folder: Path, address: str) -> Iterator[None]:
    assert PYTHON.exists(), "lark-oapi is not installed; run: make peers"
    with (folder / "bot.log").open("wb") as log:
        command = [PYTHON, BOT, address, APP_ID, APP_SECRET]
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        yield
    finally:
        process.kill()
        process.wait(30)


@pytest.fixture
async def simulator(tmp_path: Path) -> AsyncIterator[LarkSimulator]:
    simulator = LarkSimulator()
    simulator.world.add_user("Ann", ANN)
    simulator.world.add_chat("talk", ANN, chat_id=CHAT)
    async with simulator.listening() as address:
        with library(tmp_path, address):
            await simulator.until(lambda: bool(simulator.connection.sockets), START_SECONDS)
            yield simulator


async def test_lark_oapi_receives_and_sends_through_the_simulator(simulator: LarkSimulator) -> None:
    world = simulator.world
    simulator.connection.part_bytes = 200
    said = await simulator.say("grüße 👋", ANN, CHAT)
    [reply] = await simulator.answered(1, CHAT)
    assert (reply.text, reply.payload["parent_id"]) == ("you said: grüße 👋", said["message_id"])
    await simulator.until(lambda: bool(world.reactions))
    await simulator.until(lambda: not simulator.connection.waiting)

    await simulator.say("!card", ANN, CHAT)
    asked = (await simulator.answered(2, CHAT))[-1]
    await simulator.press(asked, "Yes", ANN)
    assert (await simulator.answered(3, CHAT))[-1].text == "pressed yes"
    await simulator.until(lambda: "data" in simulator.connection.answers[-1])
    assert simulator.connection.answers[-1]["data"]["toast"]["content"] == "done"

    await simulator.say("!stream", ANN, CHAT)
    streamed = (await simulator.answered(4, CHAT))[-1]
    await simulator.until(lambda: streamed.text == "one two three")
    await simulator.until(lambda: not next(iter(world.cards.values())).is_streaming)

    await simulator.say("!file", ANN, CHAT)
    assert (await simulator.answered(5, CHAT))[-1].file == b"hello"
    world.files["img_1"] = ("a.png", b"12345")
    await simulator.write("image", {"image_key": "img_1"}, ANN, CHAT)
    assert (await simulator.answered(6, CHAT))[-1].text == "image of 5 bytes"
    await simulator.say("!error", ANN, CHAT)
    assert (await simulator.answered(7, CHAT))[-1].text == "code 230071"

    await simulator.until(lambda: not simulator.connection.waiting)
    connections = simulator.connection.connections
    simulator.server.cut()
    await simulator.say("after", ANN, CHAT)
    assert (await simulator.answered(8, CHAT, 60))[-1].text == "you said: after"
    assert simulator.connection.connections > connections


def test_lark_oapi_accepts_the_signed_calls_and_no_others(tmp_path: Path) -> None:
    simulator = LarkSimulator()
    simulator.world.add_user("Ann", ANN)
    simulator.world.add_chat("talk", ANN, chat_id=CHAT)
    message = simulator.world.write(CHAT, ANN, "text", {"text": "hello"})
    report = simulator.event("im.message.receive_v1", simulator.received(message))
    body, headers = simulator.callback(report)
    own = json.dumps({"encrypt": encrypt_with_secret(ENCRYPT_KEY, json.dumps(report).encode())}).encode()
    assert json.loads(decrypt_with_secret(ENCRYPT_KEY, json.loads(body)["encrypt"])) == report
    answers = _dispatched([(body, headers), (body, {**headers, "x-lark-signature": "0" * 64}), (own, headers)])
    assert [(each["status"], each["seen"]) for each in answers[:2]] == [(200, ['{"text": "hello"}']), (500, [])]
    assert "signature" in answers[2]["body"]  # it was decrypted, and its signature is that of another body


def _dispatched(calls: list[tuple[bytes, dict[str, str]]]) -> list[Any]:
    """Returns what lark-oapi's own dispatcher answers to calls."""
    names = {"x-lark-request-timestamp": "X-Lark-Request-Timestamp", "x-lark-request-nonce": "X-Lark-Request-Nonce",
             "x-lark-signature": "X-Lark-Signature"}  # fmt: skip
    lines = [
        json.dumps({"body": body.decode(), "headers": {names.get(key, key): value for key, value in headers.items()}})
        for body, headers in calls
    ]
    command = [PYTHON, BOT, "verify", ENCRYPT_KEY, VERIFICATION_TOKEN]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, timeout=START_SECONDS)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
