"""Measures searches of a base of 100,000 passages in a Host that answers 40 messages per second at the same time.

The Host answers messages with searches and without them in turns, so that both are measured under the same conditions.
The figures are those of a machine that has nothing else to do: the test prints how busy it was.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import psutil
import pytest

from bench.clients import HttpLane
from bench.host import Host, Meter, install, running
from bench.messages import Books

from .bench_base import open_bench
from .test_load import PASSAGES, WORDS, passages, percentiles

pytestmark = [pytest.mark.long, pytest.mark.quiet, pytest.mark.timeout(1800)]
MESSAGES_PER_SECOND, LANES = 40, 20
SEARCHES_PER_SECOND = 2
TURNS, SECONDS = 6, 10
"""Turns without searches and as many with them, and their length."""
WARM_UP = 5


async def paced(per_second: float, seconds: float, act: Callable[[int], Awaitable[float]]) -> list[float]:
    """Begins an act at each tick, whether or not the one before has ended, and returns how long each took."""
    started, acts = time.perf_counter(), []
    for number in range(round(per_second * seconds)):
        await asyncio.sleep(max(0.0, started + number / per_second - time.perf_counter()))
        acts.append(asyncio.create_task(act(number)))  # type: ignore[arg-type]
    return list(await asyncio.gather(*acts))


class Chats:
    """Conversations that take turns, so that the load does not depend on how fast the Host answers."""

    def __init__(self, host: Host, books: Books) -> None:
        agent = host.make_agent()
        self._lanes = [HttpLane(host, agent, f"chat{number}", books) for number in range(LANES)]
        self._free: asyncio.Queue[HttpLane] = asyncio.Queue()

    async def open(self, port: int) -> None:
        for lane in self._lanes:
            await lane.open(port)
            self._free.put_nowait(lane)

    async def say(self, _: int) -> float:
        lane = await self._free.get()
        try:
            return await lane.say()
        finally:
            self._free.put_nowait(lane)


class Searches:
    def __init__(self, session: aiohttp.ClientSession, host: Host) -> None:
        self._session = session
        self._address = f"http://127.0.0.1:{host.port}/api/v1/knowledge-bases/kb/search"
        self._headers = {"Authorization": f"Bearer {host.key}"}
        self._asked = 0

    async def ask(self, _: int) -> float:
        self._asked += 1
        names = f"name{self._asked * 37 % 20_000} and name{self._asked * 91 % 20_000}"
        query = f"Which {WORDS[self._asked % len(WORDS)]} has {names}?"
        started = time.perf_counter()
        async with self._session.post(self._address, json={"query": query}, headers=self._headers) as response:
            found: Any = await response.json()
        assert response.status == 200, found
        assert found["items"]
        return time.perf_counter() - started


async def test_a_chat_hardly_notices_searches_of_100_000_passages(tmp_path: Path) -> None:
    data, books = tmp_path / "data", Books()
    key = install(data)
    async with open_bench(data) as bench:
        await bench.fill(passages(PASSAGES))
    alone: list[float] = []
    beside: list[float] = []
    found: list[float] = []
    costs: dict[str, list[float]] = {"alone": [], "beside": []}
    with running(data, key) as host:
        meter, chats = Meter(host), Chats(host, books)
        await chats.open(host.port)
        async with aiohttp.ClientSession() as session:
            searches = Searches(session, host)
            await paced(SEARCHES_PER_SECOND, WARM_UP, searches.ask)
            await paced(MESSAGES_PER_SECOND, WARM_UP, chats.say)
            psutil.cpu_percent()
            for _ in range(TURNS):
                meter.restart()
                alone += await paced(MESSAGES_PER_SECOND, SECONDS, chats.say)
                costs["alone"].append(meter.cost().host)
                meter.restart()
                answers, hits = await asyncio.gather(
                    paced(MESSAGES_PER_SECOND, SECONDS, chats.say), paced(SEARCHES_PER_SECOND, SECONDS, searches.ask)
                )
                costs["beside"].append(meter.cost().host)
                beside += answers
                found += hits
            busy = psutil.cpu_percent()
    assert (books.wrong, books.lost) == ([], 0)
    (chat50, chat95), (beside50, beside95), (p50, p95) = map(percentiles, (alone, beside, found))
    per_search = 1000 * (sum(costs["beside"]) - sum(costs["alone"])) / len(found)
    ratio = float(np.median(beside)) / float(np.median(alone))
    print(  # noqa: T201
        f"\n{PASSAGES} passages, {SEARCHES_PER_SECOND} searches/s: p50 {p50:.1f} ms, p95 {p95:.1f} ms, "
        f"processor time {per_search:.1f} ms each\n"
        f"{MESSAGES_PER_SECOND} messages/s: p50 {chat50:.1f} ms, p95 {chat95:.1f} ms; beside the searches "
        f"p50 {beside50:.1f} ms, p95 {beside95:.1f} ms, {ratio:.2f} times\nthe machine was busy for {busy:.0f} %"
    )
    assert per_search < 50
    assert p95 < 50
    assert ratio < 1.2
