"""`python -m bench.first_request [TREE ...]` measures what the first request to the HTTP interface costs messages.

A real Host answers messages at a steady rate with echo-agent; in every second run a request makes it load the HTTP
interface in the middle of that. Trees are other checkouts, measured in turns with this one, so that other load of the
machine affects all of them equally.
"""

import argparse
import asyncio
import http.client
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from . import environment
from .clients import HttpLane
from .host import Host, Settings, install, running
from .messages import WORDS, Books

RATE = 100
"""Messages per second."""
CONNECTIONS = 50
SECONDS = 4.0
REQUESTED_AT_SECONDS = 2.0
WINDOW_SECONDS = 1.2
"""Seconds around the requests whose messages are compared; longer ones would mostly show stalls of the disk."""
PATHS = ("/api/v1/info", "/api/v1/agents", "/api/v1/bots", "/api/v1/runs", "/api/v1/plugins", "/api/v1/stats/hourly")
"""Paths that a page requests when it is opened; a Host that loads its routes in parts loads a part with each."""


@dataclass(frozen=True, slots=True)
class Outcome:
    slowest_ms: float
    p99_ms: float
    first_request_ms: float


async def _load(host: Host, agent_id: str, requesting: bool) -> Outcome:
    books = Books(WORDS)
    lanes = [await HttpLane(host, agent_id, f"chat-{number}", books).open(host.port) for number in range(CONNECTIONS)]
    for lane in lanes:
        await lane.say()
    loop = asyncio.get_running_loop()
    started = loop.time()
    seconds: list[tuple[float, float]] = []

    async def send_requests(lane: HttpLane, offset: float) -> None:
        """Sends at fixed times; a message that is late because the one before was slow counts from when it was due."""
        due_at = started + offset
        while due_at < started + SECONDS:
            await asyncio.sleep(max(0.0, due_at - loop.time()))
            delay = loop.time() - due_at
            seconds.append((due_at - started, delay + await lane.say()))
            due_at += CONNECTIONS / RATE

    async def request() -> float:
        await asyncio.sleep(REQUESTED_AT_SECONDS)
        sent_at = loop.time()
        answers = [await asyncio.to_thread(_status, host, path) for path in PATHS] if requesting else []
        assert all(answer < 500 for answer in answers), answers
        return loop.time() - sent_at

    talking = (send_requests(lane, number / RATE) for number, lane in enumerate(lanes))
    elapsed, *_ = await asyncio.gather(request(), *talking)
    assert not books.wrong, books.wrong[:3]
    for lane in lanes:
        await lane.close()
    window_start = REQUESTED_AT_SECONDS - 0.1
    latencies = sorted(each for due_at, each in seconds if window_start <= due_at <= window_start + WINDOW_SECONDS)
    return Outcome(1000 * latencies[-1], 1000 * latencies[int(len(latencies) * 0.99)], 1000 * elapsed)


def _status(host: Host, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", host.port, timeout=30)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {host.key}"})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def _settings(tree: Path) -> Settings:
    sources = os.pathsep.join(str(tree / "packages" / name / "src") for name in ("host", "sdk"))
    return {"PYTHONPATH": sources}


async def measure(folder: Path, trees: Sequence[Path], rounds: int) -> None:
    prepared = {}
    for number, tree in enumerate(trees):
        data = folder / f"data-{number}"
        key = install(data, _settings(tree))
        with running(data, key, _settings(tree)) as host:
            prepared[tree] = (data, key, host.make_agent())
    by_tree: dict[tuple[Path, bool], list[Outcome]] = {(tree, asks): [] for tree in trees for asks in (False, True)}
    for _ in range(rounds):
        for (tree, requesting), outcomes in by_tree.items():
            data, key, agent_id = prepared[tree]
            with running(data, key, _settings(tree)) as host:
                await asyncio.sleep(1.0)
                outcomes.append(await _load(host, agent_id, requesting))
    for (tree, requesting), outcomes in by_tree.items():
        slowest = [each.slowest_ms for each in outcomes]
        print(
            f"{tree} {'with' if requesting else 'without'} first request: slowest message {median(slowest):.0f} ms"
            f" ({min(slowest):.0f} to {max(slowest):.0f}), p99 {median(each.p99_ms for each in outcomes):.0f} ms,"
            f" requests took {median(each.first_request_ms for each in outcomes):.0f} ms"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.first_request")
    parser.add_argument("trees", nargs="*", type=Path, metavar="TREE")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    trees = [environment.REPOSITORY, *(tree.resolve() for tree in arguments.trees)]
    with environment.work_folder() as folder:
        asyncio.run(measure(folder, trees, arguments.rounds))


if __name__ == "__main__":
    sys.exit(main())
