"""Tests that a service elsewhere uses the tools of a run, with the token of the run as an argument of each tool."""

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from aiohttp import web
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from parlour.testing.network import free_port
from tests.support.harness import ROOT, Host, Json, texts

N8N = "plugin:parlour/n8n-agent/default"


class Workflow:
    """A workflow of n8n that calls one tool of Parlour for each message, and answers with its result."""

    def __init__(self, gateway: str) -> None:
        self._gateway = gateway
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.tokens: list[str] = []
        self.address = ""

    def start(self) -> None:
        self._thread.start()
        self.address = asyncio.run_coroutine_threadsafe(self._serve(), self._loop).result(30)

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()

    async def _serve(self) -> str:
        application = web.Application()
        application.router.add_post("/webhook", self._answer)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}/webhook"

    async def _answer(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.tokens.append(body["parlour"]["token"])
        name, _, arguments = str(body["chatInput"]).partition(" ")
        failed, text = await call(self._gateway, name, self.tokens[-1], **json.loads(arguments or "{}"))
        return web.json_response({"output": f"{'failed' if failed else 'ok'}: {text}"})


async def call(gateway: str, name: str, token: str, era: Any = "legacy", **arguments: Any) -> tuple[bool, str]:
    async with httpx.AsyncClient(timeout=30) as http:
        transport = streamable_http_client(gateway, http_client=http)
        async with Client(transport, mode=era) as client:
            result = await client.call_tool(name, {**arguments, "run_token": token})
    return bool(result.is_error), "".join(getattr(part, "text", "") for part in result.content)


async def list_tools(gateway: str) -> dict[str, Json]:
    async with httpx.AsyncClient(timeout=30) as http:
        transport = streamable_http_client(gateway, http_client=http)
        async with Client(transport, mode="auto") as client:
            return {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}


@pytest.fixture(scope="module")
def service_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("services"), PARLOUR__DOORS__SERVICES_PORT=free_port())
    host.install(ROOT / "plugins" / "n8n-agent", "--grant", "network:*")
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="module")
def gateway(service_host: Host) -> str:
    [line] = [each for each in service_host.printed() if "tools for services elsewhere" in each]
    return f"http{line.partition('http')[2]}"


@pytest.fixture(scope="module")
def workflow(gateway: str) -> Iterator[Workflow]:
    workflow = Workflow(gateway)
    workflow.start()
    yield workflow
    workflow.stop()


def agent(host: Host, address: str, gateway: str) -> str:
    config = {"webhook_url": address, "gateway": gateway, "extra": {"parlour": {"token": "{{run_token}}"}}}
    return host.agent(N8N, runner_config=config, restart_policy="never")


def said(host: Host, agent_id: str, text: str) -> str:
    result = host.ask(agent_id, text, conversation_id="one")
    assert result["run"]["status"] == "completed", result["run"]["error"]
    return "".join(texts(result))


def test_a_service_reads_with_the_token_of_the_run_and_changes_things_only_if_the_agent_says_so(
    service_host: Host, workflow: Workflow, gateway: str
) -> None:
    reading = agent(service_host, workflow.address, "read")
    writing = agent(service_host, workflow.address, "all")

    assert said(service_host, reading, "context").startswith("ok: ")
    assert "context" in said(service_host, reading, "history_page")
    change = 'state_set {"key": "color", "value": "blue"}'
    refusal = "failed: unauthorized: state_set: this agent allows services to read only"
    assert said(service_host, reading, change) == refusal
    assert said(service_host, writing, change) == "ok: stored"

    token = workflow.tokens[-1]
    failed, text = asyncio.run(call(gateway, "context", token, era="auto"))
    assert (failed, text) == (True, "unauthorized: run_token: no active run has this token")
    entries = [each for each in service_host.items("/audit") if each["action"] == "history_page"]
    assert entries[0]["detail"] == {"via": "gateway"}
    everything = [service_host.log(), *service_host.items("/audit"), *service_host.items("/runs")]
    assert not any(each in json.dumps(everything) for each in workflow.tokens)


def test_the_listener_serves_the_tools_and_nothing_else(service_host: Host, gateway: str) -> None:
    tools = asyncio.run(list_tools(gateway))

    assert {"history_page", "retrieve_knowledge", "call_tool"} <= set(tools)
    assert all("run_token" in schema["required"] for schema in tools.values())
    base = gateway.removesuffix("/mcp")
    for path in ("/", "/api/v1/agents", "/gateway/mcp", "/.well-known/oauth-protected-resource", "/metrics"):
        assert httpx.get(f"{base}{path}").status_code == 404
    for _ in range(12):
        failed, text = asyncio.run(call(gateway, "context", "pgw_wrong", era="auto"))
    assert (failed, text) == (True, "rate_limited: run_token: too many wrong tokens; wait a minute")
