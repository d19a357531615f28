"""Tests the answers of a plugin's worker over an in-memory wire: discovery, runs and failures."""

import asyncio
import inspect
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parlour_sdk import results
from parlour_sdk.components import AgentRunner
from parlour_sdk.plugin import load, read_plugin
from parlour_sdk.protocol.errors import AgentAPIError, AgentAPIException
from parlour_sdk.protocol.manifest import AgentRunnerDiscovery, AgentRunnerManifest
from parlour_sdk.protocol.results import PAYLOADS, AgentRunResult
from parlour_sdk.protocol.wire_actions import PLUGIN_ACTIONS
from parlour_sdk.service import PluginService
from parlour_sdk.wire import Peer, WireError, memory_pair


class Failing(AgentRunner):
    async def run(self, ctx: Any, api: Any) -> Any:
        yield results.delta("so far so good")
        raise RuntimeError("the secret is 12345")


class FailingAtOnce(AgentRunner):
    async def run(self, ctx: Any, api: Any) -> Any:
        raise RuntimeError("at once")
        yield


class Asking(AgentRunner):
    """Calls the Host and does not catch its refusals."""

    async def run(self, ctx: Any, api: Any) -> Any:
        yield results.completed(str(await api.state.get("actor", "k")))
        yield results.finished()


class Raising(AgentRunner):
    async def run(self, ctx: Any, api: Any) -> Any:
        yield results.delta("a")
        raise AgentAPIException(AgentAPIError(code="budget_exceeded", message="no money left"))


class Endless(AgentRunner):
    closed = False

    async def run(self, ctx: Any, api: Any) -> Any:
        try:
            while True:
                yield results.delta("x")
        finally:
            type(self).closed = True


class Chatty(AgentRunner):
    """Yields a value that is not a result."""

    closed = False

    async def run(self, ctx: Any, api: Any) -> Any:
        try:
            yield results.delta("well")
            yield "the secret is 12345"
            yield results.completed("never said")
        finally:
            type(self).closed = True


class HostSide:
    def __init__(self) -> None:
        self.requests: list[tuple[str, Any]] = []
        self.answer: Any = {"found": True, "value": "kept"}

    def dispatch(self, action: str, data: Any) -> Any:
        return self._answer(action, data)

    async def _answer(self, action: str, data: Any) -> Any:
        self.requests.append((action, data))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Connection:
    """Connects a Host's peer with the plugin."""

    def __init__(self, host: HostSide, peer: Peer, service: PluginService) -> None:
        self.host = host
        self.peer = peer
        self.service = service

    async def run(self, runner: str = "default", text: str = "hi", **runtime: Any) -> list[dict[str, Any]]:
        return [result async for result in self.peer.stream("run_agent", request(runner, text, **runtime))]


def request(runner: str, text: str, **runtime: Any) -> dict[str, Any]:
    context = {
        "run_id": "run",
        "trigger": {"type": "message.received", "source": "api"},
        "event": {"event_id": "e", "event_type": "message.received", "source": "api"},
        "input": {"text": text},
        "delivery": {"surface": "api"},
        "resources": {},
        "context": {},
        "state": {},
        "runtime": {"trace_id": "run", "attempt": 1, **runtime},
    }
    return {"runner_id": f"plugin:acme/hello/{runner}", "runner_name": runner, "context": context}


@pytest.fixture
async def connection(folder: Path) -> AsyncIterator[Connection]:
    loaded = load(read_plugin(folder))
    own = {"failing": Failing(), "at_once": FailingAtOnce(), "asking": Asking(), "raising": Raising()}
    more = {"endless": Endless(), "chatty": Chatty()}
    service = PluginService(replace(loaded, runners={**loaded.runners, **own, **more}))
    one, other = memory_pair()
    host = HostSide()
    peer, service.peer = Peer(one, host), Peer(other, service)
    peer.start()
    service.peer.start()
    yield Connection(host, peer, service)
    await peer.aclose()
    await service.peer.aclose()


def last(stream: list[dict[str, Any]]) -> tuple[str, Any]:
    return stream[-1]["type"], stream[-1]["data"]


async def test_discovery_returns_valid_runner_manifests(connection: Connection) -> None:
    [runner] = (await connection.peer.call("list_agent_runners"))["runners"]
    discovery = AgentRunnerDiscovery.model_validate(runner)
    assert (discovery.plugin_author, discovery.plugin_name, discovery.runner_name) == ("acme", "hello", "default")
    assert AgentRunnerManifest.model_validate(discovery.manifest).id == "plugin:acme/hello/default"


async def test_components_are_listed_by_kind_and_name(connection: Connection) -> None:
    assert await connection.peer.call("list_components") == {"components": [{"kind": "AgentRunner", "name": "default"}]}


async def test_results_are_numbered_from_one_and_have_the_run_id(connection: Connection) -> None:
    stream = await connection.run(text="hello")
    assert [(each["sequence"], each["type"]) for each in stream] == [
        (1, "message.delta"),
        (2, "message.completed"),
        (3, "run.completed"),
    ]
    for each in stream:
        assert AgentRunResult.model_validate(each).run_id == "run"
        PAYLOADS[each["type"]].model_validate(each["data"])


async def test_each_run_has_its_own_numbers(connection: Connection) -> None:
    for _ in range(2):
        assert [each["sequence"] for each in await connection.run()] == [1, 2, 3]


@pytest.mark.parametrize(("runner", "number"), [("failing", 2), ("at_once", 1)])
async def test_an_exception_in_a_runner_fails_its_run_without_secrets(
    connection: Connection, runner: str, number: int
) -> None:
    stream = await connection.run(runner)
    kind, data = last(stream)
    assert (kind, data["code"], data["retryable"]) == ("run.failed", "runner.error", False)
    assert "RuntimeError" in data["error"]
    assert "12345" not in data["error"]
    assert stream[-1]["sequence"] == number


async def test_a_yielded_value_that_is_not_a_result_fails_the_run_with_the_remedy(connection: Connection) -> None:
    stream = await connection.run("chatty")
    kind, data = last(stream)
    assert [each["sequence"] for each in stream] == [1, 2]
    assert (kind, data["code"]) == ("run.failed", "runner.error")
    assert "yielded a str" in data["error"]
    assert "results.completed(" in data["error"]
    assert "12345" not in data["error"]
    assert Chatty.closed


async def test_an_api_exception_fails_the_run_with_its_own_code(connection: Connection) -> None:
    stream = await connection.run("raising")
    assert last(stream)[1]["code"] == "budget_exceeded"
    assert last(stream)[1]["error"] == "no money left"
    assert stream[-1]["sequence"] == 2


async def test_an_unknown_runner_is_refused_by_name(connection: Connection) -> None:
    with pytest.raises(WireError, match="'walker'") as refusal:
        await connection.run("walker")
    assert refusal.value.code == "not_found"


@pytest.mark.parametrize("action", ["kb_ingest", "kb_retrieve", "kb_delete", "parse_file", "make_coffee"])
async def test_an_action_that_the_plugin_does_not_serve_is_refused(connection: Connection, action: str) -> None:
    with pytest.raises(WireError) as refusal:
        await connection.peer.call(action, {"file": {"file_id": "f", "name": "a.pdf"}})
    assert refusal.value.code == "not_supported"


@pytest.mark.parametrize("action", PLUGIN_ACTIONS)
async def test_every_action_streams_if_it_is_declared_to(connection: Connection, action: str) -> None:
    work = connection.service.dispatch(action, {})
    assert inspect.isasyncgen(work) == PLUGIN_ACTIONS[action].streams
    await (work.aclose() if inspect.isasyncgen(work) else asyncio.gather(work, return_exceptions=True))


async def test_a_request_with_a_missing_field_is_refused_by_its_name(connection: Connection) -> None:
    with pytest.raises(WireError, match=r"run_agent: context: Field required") as refusal:
        async for _ in connection.peer.stream("run_agent", {"runner_id": "r", "runner_name": "default"}):
            pass
    assert refusal.value.code == "invalid_argument"


async def test_a_runner_calls_the_host_through_its_api(connection: Connection) -> None:
    stream = await connection.run("asking")
    assert stream[0]["data"]["message"]["content"] == "kept"
    assert connection.host.requests == [
        ("state_get", {"run_id": "run", "call_id": "run:1", "scope": "actor", "key": "k"})
    ]


async def test_a_refusal_of_the_host_fails_the_run_with_its_code(connection: Connection) -> None:
    connection.host.answer = WireError("unauthorized", "this run was not granted state")
    stream = await connection.run("asking")
    assert last(stream) == (
        "run.failed",
        {"code": "unauthorized", "error": "this run was not granted state", "retryable": False},
    )


async def test_a_run_past_its_deadline_sends_no_call(connection: Connection) -> None:
    stream = await connection.run("asking", deadline_at=1000)
    assert last(stream)[1]["code"] == "deadline_exceeded"
    assert connection.host.requests == []


async def test_a_runner_is_closed_when_its_stream_is_closed_early(connection: Connection) -> None:
    Endless.closed = False
    stream = connection.peer.stream("run_agent", request("endless", "hi"))
    async for _ in stream:
        break
    await stream.aclose()
    await connection.peer.call("list_components")
    await connection.service.peer.aclose()
    assert Endless.closed


async def test_a_plugin_stops_on_request(connection: Connection) -> None:
    await connection.peer.call("shutdown")
    assert connection.service.stopping.is_set()
