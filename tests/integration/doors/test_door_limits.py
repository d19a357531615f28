"""Tests the limits of doors: requests per minute, and budgets."""

from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest

from parlour.testing.model_server import ModelServer
from tests.support.agents import AgentHost
from tests.support.door_clients import AgUiClient, asking
from tests.support.harness import bearer

from .test_a2a_door import A2aClient
from .test_mcp_door import connected


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentHost]:
    with ModelServer() as server:
        host = AgentHost(tmp_path_factory.mktemp("limits"), server, PARLOUR__DOORS__REQUESTS_PER_MINUTE=3)
        yield host
        host.close()


DOORS = ["openai", "mcp", "a2a", "agui"]


def client(host: AgentHost, key: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{host.address}/v1", api_key=key, max_retries=0, timeout=30)


def test_requests_beyond_the_limit_of_a_key_are_refused(host: AgentHost) -> None:
    mine, other = client(host, host.key("chat", "busy")), client(host, host.key("chat", "calm"))
    for _ in range(3):
        mine.models.list()

    with pytest.raises(openai.RateLimitError) as refused:
        mine.models.list()

    assert refused.value.code == "rate_limit_exceeded"
    assert int(refused.value.response.headers["retry-after"]) >= 1
    assert other.models.list().object == "list"
    metrics = host.http().get(f"{host.address}/metrics").text
    assert 'parlour_door_requests_total{door="openai",result="rate_limited"} 1' in metrics


@pytest.mark.parametrize(("door", "path"), [("mcp", "api/v1/mcp"), ("a2a", "a2a/{}/rpc"), ("agui", "agui/{}")])
def test_each_door_has_a_limit_and_figures_of_its_own(host: AgentHost, spent: str, door: str, path: str) -> None:
    address = f"{host.address}/{path.format(spent)}"
    with httpx.Client(headers=bearer(host.key("mcp" if door == "mcp" else "chat", f"busy at {door}"))) as busy:
        refused = [busy.post(address, json={}).status_code for _ in range(4)]
        models = busy.get(f"{host.address}/v1/models").status_code

    assert 429 not in refused[:3]
    assert refused[3] == 429
    assert models == 200
    metrics = host.http().get(f"{host.address}/metrics").text
    assert f'parlour_door_requests_total{{door="{door}",result="rate_limited"}} 1' in metrics


@pytest.fixture(scope="module")
def spent(host: AgentHost) -> str:
    """Publishes an agent whose budget is too small for any answer."""
    agent = host.local(host.model())
    body: Any = {"name": "Spent", "scope": "agent", "target": agent, "tokens": 1}
    made = host.http().post("/budgets", json=body)
    assert made.status_code == 201, made.text
    changed = {**host.http().get(f"/agents/{agent}").json(), "name": "Spent", "published": DOORS}
    assert host.http().put(f"/agents/{agent}", json=changed).status_code == 200
    return agent


@pytest.mark.parametrize("streamed", [False, True])
def test_a_spent_budget_is_the_error_of_openai(host: AgentHost, spent: str, streamed: bool) -> None:
    with pytest.raises(openai.RateLimitError) as refused:
        client(host, host.key("chat", f"poor {streamed}")).chat.completions.create(
            model=f"agent:{spent}", messages=[{"role": "user", "content": "hello"}], stream=streamed
        )

    assert refused.value.code == "insufficient_quota"


async def test_a_spent_budget_is_the_error_of_mcp(host: AgentHost, spent: str) -> None:
    async with connected(host, key=host.key("mcp", "poor")) as mcp:
        refused = await mcp.call_tool("ask_spent", {"text": "hello"})

    assert (refused.is_error, refused.structured_content["code"]) == (True, "budget_exceeded")


async def test_a_spent_budget_is_the_error_of_agui(host: AgentHost, spent: str) -> None:
    [refused] = await AgUiClient(host, spent, host.key("chat", "poor web")).run("t", asking("r", "hello"))

    assert [(each["type"], each.get("code")) for each in refused["events"]] == [
        ("RUN_STARTED", None),
        ("RUN_ERROR", "budget_exceeded"),
    ]


def test_a_spent_budget_is_the_error_of_a2a(host: AgentHost, spent: str) -> None:
    task = A2aClient(host, spent, host.key("chat", "poor agent")).send("hello", "m1")

    assert task["status"]["state"] == "TASK_STATE_FAILED"
    assert task["status"]["message"]["metadata"] == {"code": "budget_exceeded"}
