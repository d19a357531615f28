"""Jobs run on both databases: in order per key, repeated after failures, and taken over from a stopped Host."""

import asyncio
from typing import Any, ClassVar

import pytest

from parlour.core.jobs.attempts import LEASE_SECONDS
from parlour.core.jobs.job import Job, JobDone, JobHandler, JobResult, JobRetry
from parlour.core.jobs.jobs import Jobs
from parlour.core.jobs.progress import JobProgress
from parlour.core.journal import Insert, Journal, Row, Select, Unit, starts_with, where
from parlour.core.store.tables import JOBS, META
from parlour.core.system import SystemIds

NOW = 1_790_000_000_000
KEYS = ("one", "two", "three")
JOBS_PER_KEY = 5
SECONDS = 30


class ShiftedClock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.milliseconds = NOW

    def now(self) -> int:
        return self.milliseconds


class RecordingHandler(JobHandler):
    """Fails the first attempt of every second job. The end of a job is recorded with an effect in the same unit."""

    kind: ClassVar[str] = "recorded"
    concurrency: ClassVar[int] = 2

    def __init__(self) -> None:
        self.attempts: list[tuple[str, int, int]] = []
        """Name, attempt and interruptions, in order."""
        self.held: set[str] = set()
        """Names of jobs whose attempts do not end."""
        self.is_held = asyncio.Event()
        self.running: set[str] = set()
        self.overlaps: list[str] = []
        """Names of jobs that were begun during an attempt of another job with their key."""

    async def run(self, job: Job, progress: JobProgress) -> JobResult:
        name, number = job.payload["name"], job.payload["number"]
        self.attempts.append((name, job.attempts, job.interruptions))
        if job.order_key in self.running:
            self.overlaps.append(name)
        self.running.add(job.order_key)
        try:
            await progress.report("working", done=number, total=JOBS_PER_KEY)
            if name in self.held:
                self.is_held.set()
                await asyncio.Event().wait()
        finally:
            self.running.discard(job.order_key)
        if number % 2 and job.attempts == 1:
            return JobRetry("not yet", 0)
        return JobDone((Insert(META, {"name": f"effect/{name}", "value": ""}),))


async def store(journal: Journal, jobs: Jobs, *names: tuple[str, int]) -> None:
    inserts = [
        jobs.enqueue("recorded", key, {"name": f"{key}/{number}", "number": number}, max_attempts=9)
        for key, number in names
    ]
    await journal.commit(Unit("test.add", tuple(inserts)))


async def ended(jobs: Jobs, waiting_keys: int = 0) -> None:
    """Waits until no more than these keys have open jobs."""
    async with asyncio.timeout(SECONDS):
        while True:
            if len(jobs) <= waiting_keys:
                return
            await asyncio.sleep(0.01)


async def rows(journal: Journal) -> list[Row]:
    return await journal.read(Select(JOBS, order=("job_id",)))


@pytest.fixture(params=["on_sqlite", "on_postgres"])
def journals(request: pytest.FixtureRequest) -> Any:
    """Two journals of one database."""
    return request.getfixturevalue(request.param)


async def test_jobs_run_in_order_per_key_and_each_effect_is_stored_once(journals: list[Journal]) -> None:
    handler, clock = RecordingHandler(), ShiftedClock()
    jobs = Jobs(journals[0], SystemIds(), clock)
    jobs.register(handler)

    await store(journals[0], jobs, *((key, number) for number in range(JOBS_PER_KEY) for key in KEYS))
    jobs.wake("recorded", *KEYS)
    await ended(jobs)

    assert [(row["state"], row["attempts"]) for row in await rows(journals[1])] == [
        ("done", 1 + number % 2) for number in range(JOBS_PER_KEY) for _ in KEYS
    ]
    for key in KEYS:
        names = [name for name, _, _ in handler.attempts if name.startswith(f"{key}/")]
        assert names == [f"{key}/{number}" for number in (0, 1, 1, 2, 3, 3, 4)]
    assert handler.overlaps == []
    effects = await journals[1].read(Select(META, where(name=starts_with("effect/"))))
    assert len(effects) == len(KEYS) * JOBS_PER_KEY


async def test_a_job_of_a_stopped_host_is_continued_by_another_when_its_lease_is_over(
    journals: list[Journal],
) -> None:
    stopped, other, clock = RecordingHandler(), RecordingHandler(), ShiftedClock()
    stopped.held.add("one/0")
    first = Jobs(journals[0], SystemIds(), clock, owner="first")
    second = Jobs(journals[1], SystemIds(), clock, owner="second")
    first.register(stopped)
    second.register(other)
    await store(journals[0], first, ("one", 0), ("one", 2), ("two", 0))
    first.wake("recorded", "one")
    await asyncio.wait_for(stopped.is_held.wait(), SECONDS)
    await first.close()

    await second.recover()
    await ended(second, waiting_keys=1)
    assert other.attempts == [("two/0", 1, 0)]
    [started, waiting, _] = await rows(journals[1])
    assert (started["state"], started["owner"], waiting["state"]) == ("running", "first", "pending")
    clock.milliseconds += round(LEASE_SECONDS * 1000)
    second.wake("recorded", "one")
    await ended(second)

    assert other.attempts[1:] == [("one/0", 2, 1), ("one/2", 1, 0)], "the repeated attempt counts its interruption"
    assert [row["state"] for row in await rows(journals[0])] == ["done"] * 3


async def test_two_hosts_with_the_same_jobs_make_each_attempt_once(journals: list[Journal]) -> None:
    handlers, clock = [RecordingHandler(), RecordingHandler()], ShiftedClock()
    hosts = [Jobs(journal, SystemIds(), clock, owner=f"host {number}") for number, journal in enumerate(journals)]
    for host, handler in zip(hosts, handlers, strict=True):
        host.register(handler)
    await store(journals[0], hosts[0], *((key, number) for number in range(JOBS_PER_KEY) for key in KEYS))

    for host in hosts:
        host.wake("recorded", *KEYS)
    async with asyncio.timeout(SECONDS):
        while any(row["state"] != "done" for row in await rows(journals[0])):
            for host in hosts:
                host.wake("recorded", *KEYS)
            await asyncio.sleep(0.02)
    for host in hosts:
        await host.close()

    attempts = [(name, number) for handler in handlers for name, number, _ in handler.attempts]
    assert len(attempts) == len(set(attempts)) == len(KEYS) * 7
    effects = await journals[1].read(Select(META, where(name=starts_with("effect/"))))
    assert len(effects) == len(KEYS) * JOBS_PER_KEY
