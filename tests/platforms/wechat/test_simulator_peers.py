"""Tests that Tencent's own client, unmodified, works with the simulated gateway, and that its files are read."""

import asyncio
import base64
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from parlour.platforms.wechat.media_cipher import decrypt_file, read_key
from parlour.testing.wechat_simulator import ACCOUNT, WechatSimulator
from tests.platforms.wechat.driver import ANN
from tests.support.harness import ROOT

PACKAGE = ROOT / ".tools/peers/wechat/node_modules/@tencent-weixin/openclaw-weixin"
HERE = Path(__file__).parent
SECONDS = 60.0


async def steps(process: asyncio.subprocess.Process) -> AsyncIterator[dict[str, Any]]:
    assert process.stdout is not None
    async for line in process.stdout:
        if line.startswith(b'{"step"'):
            yield json.loads(line)


@pytest.mark.long
async def test_tencents_client_logs_in_receives_answers_and_sends_files(tmp_path: Path) -> None:
    assert PACKAGE.exists(), "the client is not installed; run: make peers"
    simulator, seen = WechatSimulator(), dict[str, Any]()
    async with simulator.listening() as url, asyncio.timeout(SECONDS):
        item = {"type": 2, "image_item": {"media": simulator.files.add(b"\x89PNG of a user")}}
        reported = simulator.message(ANN, {"type": 1, "text_item": {"text": "你好"}}, item)
        await simulator.report(reported)
        process = await asyncio.create_subprocess_exec(
            "node", "--import", HERE / "openclaw_framework.mjs", HERE / "openclaw_peer.mjs",
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "GATEWAY": url, "PACKAGE": str(PACKAGE), "PEER_FOLDER": str(tmp_path)},
        )  # fmt: skip
        try:
            async for step in steps(process):
                seen[step["step"]] = step
                if step["step"] == "code":
                    assert "link" in step, step
                    simulator.logins.move(simulator.logins.find(step["link"]), "confirmed")
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
    assert seen["login"] == {"step": "login", "connected": True, "account": ACCOUNT}
    assert seen["received"]["text"] == "你好"
    assert seen["received"]["id"] == str(reported["message_id"])
    assert base64.b64decode(seen["received"]["picture"]) == b"\x89PNG of a user"
    text, picture, file = simulator.sent(ANN)
    assert (text.text, text.id) == ("you said: 你好", seen["answered"]["id"])
    assert simulator.typing == [ANN]
    for sent, name in ((picture, "image_item"), (file, "file_item")):
        media = sent.item[name]["media"]
        key = read_key("", media["aes_key"])
        assert key is not None
        assert decrypt_file(key, simulator.files.stored[media["encrypt_query_param"]]) == b"a picture of the peer"
    assert seen["end"]["stale"] == -14
