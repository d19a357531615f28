"""Tests hundreds of concurrent runs in one plugin process: each gets its own results in order, and all of them end."""

import asyncio
import json
from collections import Counter

import aiohttp
import pytest

from tests.integration.conftest import MakeHost
from tests.support.harness import ROOT, Host, Json, bearer, message

CROWD_PLUGIN = ROOT / "tests" / "fixtures" / "plugins" / "crowd_agent.py"
CROWD = "plugin:test/crowd-agent/default"
WORDS = 20


@pytest.mark.parametrize("runs", [200, pytest.param(1000, marks=pytest.mark.long)])
async def test_many_runs_in_one_process_each_get_their_own_results_in_order(make_host: MakeHost, runs: int) -> None:
    host = make_host(CROWD_PLUGIN, PARLOUR__RUNS__CONCURRENT=runs).start()
    agent = host.agent(CROWD, config={"crowd": runs})
    names = [f"person {number}" for number in range(runs)]

    results = await _ask_all(host, agent, names)

    assert [each["messages"][0]["content"] for each in results] == [f"{name} is done" for name in names]
    assert Counter(each["run"]["status"] for each in results) == {"completed": runs}
    assert len({each["run"]["run_id"] for each in results}) == runs
    for name, result in list(zip(names, results, strict=True))[:: runs // 20]:
        said = "".join(_delta_text(event) for event in host.items(f"/runs/{result['run']['run_id']}/events"))
        assert said == "".join(f"{name}/{number} " for number in range(WORDS))


async def _ask_all(host: Host, agent: str, names: list[str]) -> list[Json]:
    connector = aiohttp.TCPConnector(limit=len(names))
    async with aiohttp.ClientSession(host.address, connector=connector, headers=bearer(host.key())) as session:

        async def ask(name: str) -> Json:
            body = message(agent, name, conversation_id=name)
            async with session.post("/api/v1/events?wait=result", json=body) as answer:
                content = await answer.text()
                assert answer.status == 200, content
                return dict(json.loads(content))

        return list(await asyncio.gather(*map(ask, names)))


def _delta_text(event: Json) -> str:
    return str(event["data"]["chunk"]["content"]) if "chunk" in event["data"] else ""
