"""Runs wechatpy in its own environment, and talks to it in lines of JSON."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.harness import ROOT

PYTHON = ROOT / ".tools" / "peers" / "wecom" / "bin" / "python"
PROGRAM = Path(__file__).with_name("wechatpy_peer.py")
ANSWER_SECONDS = 60.0


class WechatpyPeer:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    @asynccontextmanager
    async def running(cls) -> AsyncIterator["WechatpyPeer"]:
        assert PYTHON.exists(), "wechatpy is not installed; run: make peers"
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(PYTHON, "-W", "ignore", PROGRAM, stdin=pipe, stdout=pipe)
        try:
            yield cls(process)
        finally:
            process.kill()
            await process.wait()

    async def ask(self, call: str, **fields: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"call": call, **fields}).encode() + b"\n")
        async with asyncio.timeout(ANSWER_SECONDS):
            return dict(json.loads(await self._process.stdout.readline()))
