"""Tests runners against real peers: an agent on a2a-sdk, and a LangGraph development server for DeerFlow's protocol.

The peers run in environments of their own, which `tools/agent_services.sh` installs.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from parlour_sdk.testing import FakeHost
from parlour_sdk.testing.services import FakeA2a
from tests.support.peers import ROOT, SERVICES, free_port, serving

PEERS = Path(__file__).parent / "peers"
A2A, DEERFLOW = ROOT / "plugins/a2a-agent", ROOT / "plugins/deerflow-agent"

pytestmark = pytest.mark.long


@pytest.fixture
async def a2a_peer(tmp_path: Path) -> AsyncIterator[tuple[str, Path]]:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [SERVICES / "a2a/bin/python", PEERS / "a2a_server.py", str(port)]
    async with serving(command, f"{address}/.well-known/agent-card.json", tmp_path) as log:
        yield address, log


@pytest.mark.parametrize("path", ["", "/rest-card.json"], ids=["JSON-RPC", "HTTP+JSON"])
async def test_an_agent_on_a2a_sdk_answers_asks_and_fails(a2a_peer: tuple[str, Path], path: str) -> None:
    host, config = FakeHost(), {"base_url": f"{a2a_peer[0]}{path}"}

    async def ask(text: str) -> Any:
        return await host.run(A2A, text, config=config)

    answered = await ask("hello")
    assert (answered.status, answered.text, answered.deltas) == ("completed", "You said hello", ["You said ", "hello"])
    asked = await ask("ask")
    assert asked.text == "Which city?"
    assert (await ask("Oslo")).text == "You said Oslo"
    failed = await ask("fail")
    assert failed.failed_with("a2a.upstream")
    assert "no such place" in (failed.error or "")


async def test_a_cancelled_run_cancels_the_task_of_the_peer(a2a_peer: tuple[str, Path]) -> None:
    address, log = a2a_peer
    async with FakeHost().start(A2A, "wait", config={"base_url": address}, timeout=60) as run:
        await run.until_delta()
        run.cancel()
    assert run.status == "cancelled"
    async with asyncio.timeout(30):
        while "cancelled" not in log.read_text():
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("service", [FakeA2a(), FakeA2a("0.3")], ids=["1.0", "0.3"])
async def test_the_client_of_a2a_sdk_reads_the_fake(service: FakeA2a) -> None:
    async with service:
        command = (SERVICES / "a2a/bin/python", PEERS / "a2a_client.py", service.url)
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
        output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    assert output.decode().strip() == "Hello thereHello there"


@pytest.fixture
async def langgraph(tmp_path: Path) -> AsyncIterator[str]:
    folder, port = tmp_path, free_port()
    (folder / "app.py").write_text((PEERS / "langgraph_app.py").read_text())
    described = {"dependencies": ["."], "graphs": {"lead_agent": "./app.py:graph"}}
    (folder / "langgraph.json").write_text(json.dumps(described))
    binaries = SERVICES / "langgraph/bin"
    options = ["--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", str(port)]
    environment = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "PATH": f"{binaries}:{os.environ['PATH']}"}
    address = f"http://127.0.0.1:{port}"
    async with serving(
        [binaries / "python", "-m", "langgraph_cli", "dev", *options], f"{address}/ok", folder, **environment
    ):
        yield address


async def test_a_langgraph_server_answers_asks_fails_and_stops(langgraph: str) -> None:
    host, config = FakeHost(), {"api_base": langgraph}

    async def ask(text: str) -> Any:
        return await host.run(DEERFLOW, text, config=config, timeout=60)

    first, second = await ask("hello"), await ask("again")
    assert (first.status, first.text) == ("completed", "You said hello"), first
    assert (second.text, "".join(second.deltas)) == ("You said again", "You said again")
    threads = [run.state["conversation"]["external.conversation_id"] for run in (first, second)]
    assert threads[0] == threads[1]
    asked = await ask("ask")
    assert asked.text == "Which city?", asked
    assert (await ask("Oslo")).text == "You said Oslo"
    failed = await ask("fail")
    assert failed.failed_with("deerflow.upstream")
    async with host.start(DEERFLOW, "wait", config=config, timeout=60) as run:
        await run.until_delta()
        run.cancel()
    assert run.status == "cancelled"
    assert (await ask("afterwards")).text == "You said afterwards", "the thread is free again"


async def test_a_thread_that_is_gone_is_replaced(langgraph: str) -> None:
    host, config = FakeHost(), {"api_base": langgraph}
    first = await host.run(DEERFLOW, "hello", config=config, timeout=60)
    thread = first.state["conversation"]["external.conversation_id"]
    async with aiohttp.ClientSession() as client, client.delete(f"{langgraph}/threads/{thread}") as response:
        assert response.status < 300
    second = await host.run(DEERFLOW, "again", config=config, timeout=60)
    assert second.text == "You said again", second
    assert (second.messages[-1].metadata or {})["session_reset"] is True
