"""Runs clients of doors that are written in JavaScript, from the packages that `make door-clients` installs."""

import asyncio
import json
from typing import Any

from .harness import Host, Json, bearer
from .peers import ROOT

PACKAGES = ROOT / ".tools" / "door-clients" / "node_modules"
AGUI = ROOT / "tests" / "integration" / "doors" / "peers" / "agui_client.mjs"
CLIENT_SECONDS = 60


class AgUiClient:
    """Runs an agent with the unmodified client of AG-UI."""

    def __init__(self, host: Host, agent_id: str, key: str = "", **headers: str) -> None:
        self._url = f"{host.address}/agui/{agent_id}"
        self._headers = {**bearer(key or host.key("chat")), **headers}

    async def run(self, thread: str, *runs: Json) -> list[Json]:
        """Runs the agent once for each of `runs`, in one thread; returns events, messages and error of each."""
        assert PACKAGES.exists(), "the client of AG-UI is not installed: make door-clients"
        options = {"url": self._url, "headers": self._headers, "thread": thread, "runs": runs}
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            "node", AGUI, PACKAGES, json.dumps(options), stdout=pipe, stderr=pipe
        )
        async with asyncio.timeout(CLIENT_SECONDS):
            output, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
        happened: list[Json] = json.loads(output)
        return happened


def asking(run_id: str, content: Any, **options: Any) -> Json:
    """Returns a run that asks something."""
    return {"id": run_id, "content": content, **options}
