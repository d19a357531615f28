"""Runs programs of others that tests talk to, from the environments that `tools/agent_services.sh` installs."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

ROOT = Path(__file__).parents[2]
SERVICES = ROOT / ".tools/agent-services"
START_SECONDS = 180


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@asynccontextmanager
async def serving(command: list[str | Path], ready: str, folder: Path, **environment: str) -> AsyncIterator[Path]:
    """Runs a server until the block ends, and yields the file with its output."""
    log = folder / "server.log"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *command, cwd=folder, stdout=output, stderr=output, env={**os.environ, **environment}
        )
    try:
        async with asyncio.timeout(START_SECONDS), aiohttp.ClientSession() as client:
            while True:
                assert process.returncode is None, log.read_text()
                try:
                    async with client.get(ready) as response:
                        if response.status < 400:
                            break
                except aiohttp.ClientError:
                    await asyncio.sleep(0.1)  # a server that starts says nothing
        yield log
    finally:
        process.terminate()
        await process.wait()
