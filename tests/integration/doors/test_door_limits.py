"""Tests the limits of doors: requests per minute, and budgets."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from parlour.testing.model_server import ModelServer
from tests.support.agents import AgentHost


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentHost]:
    with ModelServer() as server:
        host = AgentHost(tmp_path_factory.mktemp("limits"), server, PARLOUR__DOORS__REQUESTS_PER_MINUTE=3)
        yield host
        host.close()


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


@pytest.mark.parametrize("streamed", [False, True])
def test_a_spent_budget_is_the_error_of_the_standard(host: AgentHost, streamed: bool) -> None:
    agent = host.local(host.model())
    body: Any = {"name": "Spent", "scope": "agent", "target": agent, "tokens": 1}
    made = host.http().post("/budgets", json=body)
    assert made.status_code == 201, made.text
    changed = {**host.http().get(f"/agents/{agent}").json(), "published": ["openai"]}
    assert host.http().put(f"/agents/{agent}", json=changed).status_code == 200

    with pytest.raises(openai.RateLimitError) as refused:
        client(host, host.key("chat", f"poor {streamed}")).chat.completions.create(
            model=f"agent:{agent}", messages=[{"role": "user", "content": "hello"}], stream=streamed
        )

    assert refused.value.code == "insufficient_quota"
