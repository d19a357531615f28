"""A real kill -9 around a model call: whatever was asked is in the ledger once, and the budgets stay exact."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from parlour.testing.model_server import ModelServer
from tests.crash.conftest import Life, free_port
from tests.crash.platform import People
from tests.integration.harness import Host, bearer, message
from tests.integration.scripted_models import LOCAL, LOCAL_PLUGIN

ASKED = 12
"""Tokens of the service's usual answer."""


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def modelled(tmp_path_factory: pytest.TempPathFactory, server: ModelServer) -> tuple[Host, str]:
    """A Host that was stopped, with an agent that is never tried anew, and a budget."""
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
async def crashing(modelled: tuple[Host, str], people: People, tmp_path: Path) -> AsyncIterator[Life]:
    host, agent = modelled
    shutil.copytree(host.data, tmp_path / "data")
    life = Life(tmp_path / "data", free_port(), people.port, agent)
    yield life
    for process in life.processes:
        process.kill()
        process.wait()


async def seen(session: aiohttp.ClientSession, life: Life, path: str) -> Any:
    async with session.get(f"{life.url}/api/v1{path}") as answer:
        return await answer.json()


async def killed_at(point: str, life: Life, key: str) -> tuple[Any, list[Any], Any]:
    """What is known after the next start: the run, its model calls, and what was used of the budget."""
    process = life.start(point)
    await life.ready()
    async with aiohttp.ClientSession(headers=bearer(key)) as session:
        async with session.post(f"{life.url}/api/v1/events", json=message(life.agent_id, "hello")) as answer:
            assert answer.status == 202
        assert await life.died(process, 60), f"the Host never came to {point}"
        life.start()
        await life.ready()
        [run] = (await seen(session, life, "/runs"))["items"]
        events = (await seen(session, life, f"/runs/{run['run_id']}/events"))["items"]
        [budget] = (await seen(session, life, "/budgets"))["items"]
    life.stop()
    return run, [each["data"] for each in events if each["type"] == "model.called"], budget["uses"]


async def test_an_answer_that_was_given_and_not_yet_written_is_in_the_ledger_once(
    crashing: Life, modelled: tuple[Host, str]
) -> None:
    run, [call], [use] = await killed_at("run.end:before", crashing, modelled[0].key())
    assert (run["status_reason"], run["usage"]["model_calls"]) == ("interrupted", 1)
    if call["outcome"] == "answered":  # the runner took so long that it was written by itself
        assert call["usage"]["prompt_tokens"] + call["usage"]["completion_tokens"] == ASKED
    else:
        assert (call["outcome"], run["usage"]) == ("cut_off", {"model_calls": 1, "unpriced_calls": 1})
    assert use["used"]["tokens"] == ASKED


@pytest.mark.long
async def test_a_call_that_was_under_way_is_in_the_ledger_as_cut_off(
    crashing: Life, modelled: tuple[Host, str]
) -> None:
    run, calls, _ = await killed_at("run.calling:after", crashing, modelled[0].key())
    assert [call["outcome"] for call in calls] == ["cut_off"]
    assert (run["status_reason"], run["usage"]) == ("interrupted", {"model_calls": 1, "unpriced_calls": 1})


@pytest.mark.long
async def test_a_run_that_has_ended_has_what_it_used(crashing: Life, modelled: tuple[Host, str]) -> None:
    run, [call], [use] = await killed_at("run.end:after", crashing, modelled[0].key())
    assert (run["status"], call["outcome"]) == ("completed", "answered")
    assert run["usage"]["prompt_tokens"] + run["usage"]["completion_tokens"] == ASKED == use["used"]["tokens"]
