"""Ten thousand queued runs over four workers: each is executed once, and idle workers are woken at once."""

import asyncio
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host, eventually, message
from tests.support.workers import Worker, runtime, worker_key

RUNS = 10_000
SENDERS = 32
WAKEUPS = 200
WORKERS = ("east", "north", "south", "west")


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_queued_runs_are_executed_once_each_and_idle_workers_are_woken_within_20_ms(tmp_path: Path) -> None:
    with ExitStack() as stack:
        (tmp_path / "host").mkdir()
        host = Host(tmp_path / "host", **NO_RUN_LIMITS)
        host.install(ECHO_PLUGIN)
        host.start()
        stack.callback(host.close)
        key = worker_key(host)["key"]
        workers = [Worker(tmp_path, name, host.address, key, SLOTS=8, LEASE_SECONDS=30) for name in WORKERS]
        for worker in workers:
            stack.callback(worker.close)
            worker.install(ECHO_PLUGIN).start()
        eventually(lambda: all(runtime(host, name) for name in WORKERS), "all workers are registered")
        agent = host.agent(ECHO, on_workers=True)
        for number in range(WAKEUPS):  # one after the other: all workers are idle each time
            host.ask(agent, f"wake {number}", conversation_id=f"wake {number}")
        within_10_ms = waits_within(host, 0.01)
        assert within_10_ms >= WAKEUPS / 2, f"{within_10_ms} of {WAKEUPS} runs were claimed within 10 ms"

        agent = host.agent(ECHO, on_workers=True)
        asyncio.run(send_all(host, agent))
        eventually(lambda: host.http().get("/runtimes/queue?limit=1").json()["items"] == [], "all are executed", 600)
        runs = host.items("/runs", agent_id=agent, limit=1000)
        assert len(runs) == RUNS
        assert Counter((run["status"], run["attempt"]) for run in runs) == {("completed", 1): RUNS}
        assert len({run["conversation_id"] for run in runs}) == RUNS
        assert set(Counter(run["claimed_by"] for run in runs)) == set(WORKERS)
        for run in runs[:: RUNS // 100]:
            [(_, asked), *shown] = host.transcript(run["conversation_id"])
            assert shown == [("assistant", asked)]
        for worker in workers:
            worker.stop()


async def send_all(host: Host, agent_id: str) -> None:
    numbers = iter(range(RUNS))
    async with host.async_http() as client:

        async def send() -> None:
            for number in numbers:
                body = message(agent_id, f"run {number}", conversation_id=f"run {number}", event_id=f"run {number}")
                answer = await client.post("/events", json=body)
                assert answer.status_code == 202, answer.text

        await asyncio.gather(*(send() for _ in range(SENDERS)))


def waits_within(host: Host, seconds: float) -> int:
    """Returns how many runs were claimed within this time of being queued."""
    text = host.http(host.key()).get(f"{host.address}/metrics").text
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    buckets = {
        float(sample.labels["le"]): sample.value
        for sample in samples
        if sample.name == "parlour_remote_wait_seconds_bucket"
    }
    return int(buckets[seconds])
