"""Tests a real kill -9 around a model call: each call is in the ledger once, and the budgets stay exact."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from parlour.testing.model_server import ModelServer
from tests.crash.conftest import RestartableHost, free_port
from tests.crash.platform import People
from tests.support.harness import Host, bearer, message
from tests.support.scripted_models import LOCAL, LOCAL_PLUGIN

TOKENS_PER_CALL = 12
"""Tokens of the service's usual answer."""


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def modelled(tmp_path_factory: pytest.TempPathFactory, server: ModelServer) -> tuple[Host, str]:
    """Creates a stopped Host with a budget and an agent whose runs are never retried."""
    host = Host(tmp_path_factory.mktemp("modelled"))
    host.install(LOCAL_PLUGIN)
    host.start()
    provider = {"name": "Plain", "kind": "openai-compatible", "base_url": f"{server.address}/v1", "api_keys": []}
    provider_id = host.http().post("/model-providers", json=provider).json()["provider_id"]
    model = {"provider_id": provider_id, "name": "fake", "prices": {"input": 1}, "max_output_tokens": 50}
    chosen = {"primary": host.http().post("/models", json=model).json()["model_id"], "fallbacks": []}
    agent = host.agent(LOCAL, config={"model": chosen}, restart_policy="never")
    budget = {"name": "all", "scope": "workspace", "tokens": 100_000}
    assert host.http().post("/budgets", json=budget).status_code == 201
    host.stop()
    return host, agent


@pytest.fixture
async def crashing(modelled: tuple[Host, str], people: People, tmp_path: Path) -> AsyncIterator[RestartableHost]:
    host, agent = modelled
    shutil.copytree(host.data, tmp_path / "data")
    restartable_host = RestartableHost(tmp_path / "data", free_port(), people.port, agent)
    yield restartable_host
    for process in restartable_host.processes:
        process.kill()
        process.wait()


async def get(session: aiohttp.ClientSession, restartable_host: RestartableHost, path: str) -> Any:
    async with session.get(f"{restartable_host.url}/api/v1{path}") as answer:
        return await answer.json()


async def kill_at(point: str, restartable_host: RestartableHost, key: str) -> tuple[Any, list[Any], Any]:
    """Returns the state after the next start: the run, its model calls, and the usage of the budget."""
    process = restartable_host.start(point)
    await restartable_host.ready()
    async with aiohttp.ClientSession(headers=bearer(key)) as session:
        async with session.post(
            f"{restartable_host.url}/api/v1/events", json=message(restartable_host.agent_id, "hello")
        ) as answer:
            assert answer.status == 202
        assert await restartable_host.died(process, 60), f"the Host never came to {point}"
        restartable_host.start()
        await restartable_host.ready()
        [run] = (await get(session, restartable_host, "/runs"))["items"]
        events = (await get(session, restartable_host, f"/runs/{run['run_id']}/events"))["items"]
        [budget] = (await get(session, restartable_host, "/budgets"))["items"]
    restartable_host.stop()
    return run, [each["data"] for each in events if each["type"] == "model.called"], budget["uses"]


async def test_an_answer_that_was_not_yet_recorded_is_in_the_ledger_once(
    crashing: RestartableHost, modelled: tuple[Host, str]
) -> None:
    run, [call], [use] = await kill_at("run.end:before", crashing, modelled[0].key())
    assert (run["status_reason"], run["usage"]["model_calls"]) == ("interrupted", 1)
    if call["outcome"] == "answered":  # the runner took so long that the record was written by itself
        assert call["usage"]["prompt_tokens"] + call["usage"]["completion_tokens"] == TOKENS_PER_CALL
    else:
        assert (call["outcome"], run["usage"]) == ("cut_off", {"model_calls": 1, "unpriced_calls": 1})
    assert use["used"]["tokens"] == TOKENS_PER_CALL


@pytest.mark.long
async def test_an_interrupted_call_is_in_the_ledger_as_cut_off(
    crashing: RestartableHost, modelled: tuple[Host, str]
) -> None:
    run, calls, _ = await kill_at("run.calling:after", crashing, modelled[0].key())
    assert [call["outcome"] for call in calls] == ["cut_off"]
    assert (run["status_reason"], run["usage"]) == ("interrupted", {"model_calls": 1, "unpriced_calls": 1})


@pytest.mark.long
async def test_a_completed_run_has_its_usage(crashing: RestartableHost, modelled: tuple[Host, str]) -> None:
    run, [call], [use] = await kill_at("run.end:after", crashing, modelled[0].key())
    assert (run["status"], call["outcome"]) == ("completed", "answered")
    assert run["usage"]["prompt_tokens"] + run["usage"]["completion_tokens"] == TOKENS_PER_CALL == use["used"]["tokens"]
