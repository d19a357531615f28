"""Tests the Langflow runner against a real Langflow, which `make test-all PART=langflow` installs (1.8 GB)."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from parlour_sdk.plugin import load_runners, read_plugin
from parlour_sdk.testing import FakeHost
from tests.support.peers import ROOT, SERVICES, free_port, serving

PLUGIN = ROOT / "plugins/langflow-agent"

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@pytest.fixture
async def langflow(tmp_path: Path) -> AsyncIterator[tuple[str, str]]:
    """Yields the address of a server and the id of a flow that repeats its input."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    environment = {
        "LANGFLOW_DATABASE_URL": f"sqlite:///{tmp_path}/langflow.db",
        "LANGFLOW_CONFIG_DIR": str(tmp_path / "config"),
        "LANGFLOW_AUTO_LOGIN": "true",
        "LANGFLOW_SKIP_AUTH_AUTO_LOGIN": "true",
        "LANGFLOW_CREATE_STARTER_PROJECTS": "false",
        "DO_NOT_TRACK": "true",
    }
    options = ["--backend-only", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command = [SERVICES / "langflow/bin/langflow", "run", *options]
    async with serving(command, f"{address}/health", tmp_path, **environment), aiohttp.ClientSession() as client:
        yield address, await _new_flow(client, address)


async def _new_flow(client: aiohttp.ClientSession, address: str) -> str:
    """Makes a flow of Chat Input and Chat Output from the templates of the server."""

    async def call(method: str, path: str, body: Any = None) -> Any:
        async with client.request(method, f"{address}{path}", json=body, headers=headers) as response:
            assert response.status < 300, await response.text()
            return await response.json()

    headers: dict[str, str] = {}
    headers["Authorization"] = f"Bearer {(await call('GET', '/api/v1/auto_login'))['access_token']}"
    templates = next(each for each in (await call("GET", "/api/v1/all")).values() if "ChatInput" in each)
    names = {kind: f"{kind}-p1" for kind in ("ChatInput", "ChatOutput")}
    nodes = [
        {
            "id": name,
            "type": "genericNode",
            "position": {"x": 0, "y": 0},
            "data": {"id": name, "type": kind, "node": templates[kind]},
        }
        for kind, name in names.items()
    ]
    given = templates["ChatOutput"]["template"]["input_value"]
    source = {"dataType": "ChatInput", "id": names["ChatInput"], "name": "message", "output_types": ["Message"]}
    target = {"fieldName": "input_value", "id": names["ChatOutput"], "inputTypes": given["input_types"]}
    target["type"] = given["type"]
    edge = {
        "id": "edge-1",
        "source": names["ChatInput"],
        "target": names["ChatOutput"],
        "sourceHandle": _handle(source),
        "targetHandle": _handle(target),
        "data": {"sourceHandle": source, "targetHandle": target},
    }
    view = {"x": 0, "y": 0, "zoom": 1}
    flow = await call(
        "POST", "/api/v1/flows/", {"name": "Repeat", "data": {"nodes": nodes, "edges": [edge], "viewport": view}}
    )
    return str(flow["id"])


def _handle(value: dict[str, Any]) -> str:
    """Writes a handle as Langflow's editor does: JSON with another quotation mark."""
    return json.dumps(value, separators=(",", ":")).replace('"', "œ")


async def test_a_flow_answers_in_sessions_of_its_own(langflow: tuple[str, str]) -> None:
    address, flow = langflow
    host, config = FakeHost(), {"base_url": address, "flow_id": flow}
    runs = [await host.run(PLUGIN, text, config=config, timeout=120) for text in ("hello", "Grüße 世界")]
    assert [(run.status, run.text) for run in runs] == [("completed", "hello"), ("completed", "Grüße 世界")]
    sessions = {run.state["conversation"]["external.conversation_id"] for run in runs}
    assert len(sessions) == 1
    unknown = await host.run(PLUGIN, "hello", config={**config, "flow_id": "no-such-flow"}, timeout=120)
    assert unknown.failed_with("langflow.not_found")


async def test_test_connection_names_the_flow(langflow: tuple[str, str]) -> None:
    address, flow = langflow
    runner = load_runners(read_plugin(PLUGIN))["default"]
    found = await runner.test_connection({"base_url": address, "flow_id": flow})
    assert (found.ok, "Repeat" in found.message) == (True, True), found
