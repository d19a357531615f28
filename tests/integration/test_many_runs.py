"""A thousand runs at once in one plugin process: each gets its own results, in order, and all of them end."""

import asyncio
import json
from collections import Counter

import aiohttp

from .conftest import MakeHost
from .harness import ROOT, Host, Json, bearer, message

CROWD_PLUGIN = ROOT / "tests" / "plugins" / "crowd_agent.py"
CROWD = "plugin:test/crowd-agent/default"
RUNS = 1000
WORDS = 20


async def test_a_thousand_runs_in_one_process_each_get_their_own_results_in_order(make_host: MakeHost) -> None:
    host = make_host(CROWD_PLUGIN, PARLOUR__RUNS__CONCURRENT=RUNS).start()
    agent = host.agent(CROWD)
    names = [f"person {number}" for number in range(RUNS)]

    results = await _ask_all(host, agent, names)

    assert [each["messages"][0]["content"] for each in results] == [f"{name} is done" for name in names]
    assert Counter(each["run"]["status"] for each in results) == {"completed": RUNS}
    assert len({each["run"]["run_id"] for each in results}) == RUNS
    for name, result in list(zip(names, results, strict=True))[:: RUNS // 20]:
        said = "".join(_spoken(event) for event in host.items(f"/runs/{result['run']['run_id']}/events"))
        assert said == "".join(f"{name}/{number} " for number in range(WORDS))


async def _ask_all(host: Host, agent: str, names: list[str]) -> list[Json]:
    connector = aiohttp.TCPConnector(limit=RUNS)
    async with aiohttp.ClientSession(host.address, connector=connector, headers=bearer(host.key())) as session:

        async def ask(name: str) -> Json:
            body = message(agent, name, conversation_id=name)
            async with session.post("/api/v1/events?wait=result", json=body) as answer:
                content = await answer.text()
                assert answer.status == 200, content
                return dict(json.loads(content))

        return list(await asyncio.gather(*map(ask, names)))


def _spoken(event: Json) -> str:
    return str(event["data"]["chunk"]["content"]) if "chunk" in event["data"] else ""
