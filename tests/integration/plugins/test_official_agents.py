"""Tests the bundled agents of services in a Host: from the catalogue to an answer, each in its sandboxed process."""

import asyncio
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from parlour.plugin_runtime.packages.bundled import BUNDLED_PLUGINS
from parlour_sdk.testing.services import (
    FakeA2a,
    FakeAgentPlatform,
    FakeCoze,
    FakeDashScope,
    FakeDeerFlow,
    FakeDify,
    FakeLangflow,
    FakeN8n,
    FakeService,
    FakeTbox,
    FakeWeKnora,
    stall,
    status,
)
from parlour_sdk.values import dataclass
from tests.integration.conftest import HostType
from tests.support.harness import ROOT, Host, eventually, texts

KEY = "key-of-the-service"


@dataclass(frozen=True, slots=True)
class OfficialAgent:
    """A bundled agent with a fake of its service, and the settings that lead to it."""

    name: str
    fake: type[FakeService]
    settings: dict[str, Any]
    address: str = "base_url"
    path: str = ""
    """What the address has after that of the service."""
    key: str = "api_key"
    reports_usage: bool = True
    """Whether the service reports tokens, so that budgets count them."""

    def config(self, service: FakeService) -> dict[str, Any]:
        return {self.address: f"{service.url}{self.path}", self.key: KEY, **self.settings}


AGENTS = (
    OfficialAgent("coze-agent", FakeCoze, {"bot_id": "bot-1"}, "api_base"),
    OfficialAgent("dashscope-agent", FakeDashScope, {"app_id": "app-1"}),
    OfficialAgent("tbox-agent", FakeTbox, {"app_id": "app-1"}, reports_usage=False),
    OfficialAgent("langflow-agent", FakeLangflow, {"flow_id": "flow-1"}),
    OfficialAgent("deerflow-agent", FakeDeerFlow, {"auth": "bearer"}, "api_base", FakeDeerFlow.prefix),
    OfficialAgent("weknora-agent", FakeWeKnora, {}),
    OfficialAgent("a2a-agent", FakeA2a, {"auth": "bearer"}, reports_usage=False),
    OfficialAgent(
        "litellm-agent-platform-agent", FakeAgentPlatform, {"agent_id": "agent-1", "api_mode": "agent-platform"}
    ),
    OfficialAgent("dify-agent", FakeDify, {"app_type": "chat"}),
    OfficialAgent("n8n-agent", FakeN8n, {"auth": "header"}, "webhook_url", FakeN8n.path, "header_value", False),
)


@contextmanager
def serving(fake: type[FakeService]) -> Iterator[FakeService]:
    """Serves in a thread, since the tests of a Host don't run in an event loop."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    ended = asyncio.Event()
    services: list[FakeService] = []

    async def serve() -> None:
        async with fake() as service:
            services.append(service)
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert ready.wait(10)
    try:
        yield services[0]
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(10)
        loop.close()


def check_budget(host: Host, agent_id: str, is_counted: bool) -> None:
    """Checks that the agent's answers are counted in a budget, which then refuses further ones; or neither of it."""
    budget = {"name": "one token", "scope": "agent", "target": agent_id, "tokens": 1}
    made = host.http().post("/budgets", json=budget)
    assert made.status_code == 201, made.text
    path = f"/budgets/{made.json()['budget_id']}"
    assert texts(host.ask(agent_id, "first", conversation_id="budget")) == ["Hello there"]
    [use] = host.http().get(path).json()["uses"] or [{"used": {"tokens": 0}}]
    assert (use["used"]["tokens"] > 1) is is_counted
    second = host.ask(agent_id, "second", conversation_id="budget")
    assert (second["reason"] == "budget_exceeded") is is_counted, second
    assert host.http().delete(path, headers={"If-Match": "*"}).status_code in (200, 204)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, host_type: HostType) -> Iterator[Host]:
    host = host_type(tmp_path_factory.mktemp("official agents"))
    host.start()
    yield host
    host.close()


def test_the_wheel_and_the_repository_have_the_same_bundled_plugins() -> None:
    build = tomllib.loads((ROOT / "packages/host/pyproject.toml").read_text())["tool"]["hatch"]["build"]
    included = build["targets"]["wheel"]["force-include"]
    assert included == {f"../../plugins/{name}": f"parlour/bundled/{name}" for name in BUNDLED_PLUGINS}
    assert all((ROOT / "plugins" / name / "manifest.yaml").is_file() for name in BUNDLED_PLUGINS)


def test_the_catalogue_lists_what_can_be_installed_and_starts_nothing(own: Host) -> None:
    items = {each["id"]: each for each in own.items("/plugins/bundled")}
    assert set(items) == {f"parlour/{name}" for name in BUNDLED_PLUGINS}
    assert all(each["label"]["zh_Hans"] and each["description"]["zh_Hans"] for each in items.values())
    for agent in AGENTS:
        offered = items[f"parlour/{agent.name}"]
        assert (offered["source"], offered["installed_version"]) == (f"bundled:{agent.name}", None)
        assert offered["icon"].startswith("data:image/svg+xml;base64,")
    assert own.items("/plugins") == []
    refused = own.http().post("/plugins/install", json={"source": "bundled:nothing", "granted": []})
    assert refused.status_code == 422


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_an_agent_from_the_catalogue_answers_and_stops(own: Host, agent: OfficialAgent) -> None:
    runner = f"plugin:parlour/{agent.name}/default"
    source = {"source": f"bundled:{agent.name}"}
    response = own.http().post("/plugins/install", json=source)
    assert (response.status_code, response.json()["error"]["details"]["asked"].keys()) == (409, {"network"})
    installed = own.http().post("/plugins/install", json={**source, "granted": ["network"]})
    assert (installed.status_code, installed.json()["status"]) == (201, "ready"), installed.text

    with serving(agent.fake) as service:
        config = agent.config(service)
        assert own.check(runner, config)["ok"]
        broken = own.check(runner, {**config, agent.address: "http://127.0.0.1:1"})
        assert (broken["ok"], "127.0.0.1:1" in broken["message"]) == (False, True), broken

        agent_id = own.agent(runner, agent.name, config=config)
        assert texts(own.ask(agent_id, "hello", conversation_id="chat")) == ["Hello there"]
        assert texts(own.ask(agent_id, "again", conversation_id="chat")) == ["Hello there"]
        check_budget(own, agent_id, agent.reports_usage)
        masked = own.http().get(f"/agents/{agent_id}").json()["runner_config"]
        assert masked[agent.key] != KEY
        assert own.check(runner, masked, agent_id)["ok"], "the stored key stands for its mask"

        service.fail(status(401))
        failed = own.ask(agent_id, "and now?", conversation_id="chat")
        assert failed["reason"] == f"{agent.name.removesuffix('-agent')}.auth", failed
        service.fail(stall(after="there"))
        own.send(agent_id, "wait", conversation_id="chat")
        run_id = own.active_run(agent_id)
        eventually(lambda: service.planned_faults == 0, "the stream of the last message")
        eventually(lambda: own.http().post(f"/runs/{run_id}/cancel").status_code == 200, "the run is cancelled")
        eventually(lambda: service.disconnects, "the stream is left")
    assert KEY not in own.log()
