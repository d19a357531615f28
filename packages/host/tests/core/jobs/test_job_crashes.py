"""The Host is killed before and after each commit of a set of jobs, and a job is cancelled at each of them."""

import asyncio
from collections import Counter

import pytest

from parlour.core.jobs.job import Job, JobDone, JobResult, JobRetry
from parlour.core.jobs.progress import JobProgress
from parlour.core.journal import PreparedCallback, Receipt, Unit
from parlour.core.model.ids import JobId
from parlour.testing import MemoryDatabase

from ..support import BreakableJournal, until
from .job_support import JobsWorld, ToyHandler

COMMITS = 20
"""More commits than the jobs need, so that the last points are not reached."""


class CrashingJournal(BreakableJournal):
    """Stops at the given commit of a job's unit, before or after it is durable."""

    def __init__(self, database: MemoryDatabase, at: int, after: bool) -> None:
        super().__init__(database)
        self.reached = asyncio.Event()
        self._left = at
        self._after = after

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        if unit.name.startswith("job."):
            self._left -= 1
        if self._left or not unit.name.startswith("job."):
            return await super().commit(unit, on_prepared)
        if self._after:
            await super().commit(unit, on_prepared)
        self.reached.set()
        await asyncio.Event().wait()
        raise AssertionError


async def effect(job: Job, progress: JobProgress) -> JobResult:
    await progress.report("working", done=1)
    if job.payload["name"] == "a2" and "waited" not in job.payload:
        return JobRetry("not yet", 5, payload={**job.payload, "waited": True})
    return JobDone()


def new_handler() -> ToyHandler:
    handler = ToyHandler()
    handler.behaviours = dict.fromkeys(("a1", "a2", "a3", "b1"), effect)
    return handler


async def open_world(journal: BreakableJournal) -> tuple[JobsWorld, list[JobId]]:
    world = JobsWorld(journal, new_handler())
    inserts = [world.jobs.enqueue("toy", name[0], {"name": name}) for name in ("a1", "a2", "a3", "b1")]
    await journal.commit(Unit("test.add", tuple(inserts)))
    world.jobs.wake("toy", "a", "b")
    return world, [JobId(str(insert.values["job_id"])) for insert in inserts]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, COMMITS))
async def test_crash_at_each_commit_loses_no_job_and_marks_each_repetition(at: int, after: bool) -> None:
    journal = CrashingJournal(MemoryDatabase(), at, after)
    world, _ = await open_world(journal)
    await until(lambda: journal.reached.is_set() or not len(world.jobs))
    if journal.reached.is_set():
        world = await world.restart()
        await world.idle()
    assert world.open_rows() == []
    assert {row["state"] for row in world.rows()} == {"done"}
    counts, expected = Counter(world.handler.names), {"a1": 1, "a2": 2, "a3": 1, "b1": 1}
    for row, (name, times) in zip(world.rows(), expected.items(), strict=True):
        repeated = counts[name] - times
        assert 0 <= repeated <= row["interruptions"] <= 1
        assert row["attempts"] == times + row["interruptions"]
    order = [name for name in dict.fromkeys(world.handler.names) if name.startswith("a")]
    assert order == ["a1", "a2", "a3"]


async def test_all_commits_of_the_jobs_are_crash_points() -> None:
    world, _ = await open_world(BreakableJournal())
    await world.idle()
    job_units = [name for name in world.journal.units if name.startswith("job.")]
    assert set(job_units) == {"job.begin", "job.progress", "job.wait", "job.end"}
    assert len(job_units) < COMMITS


class SignallingJournal(BreakableJournal):
    """Cancels a job while the given commit of a job's unit is under way."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.left = at
        self.reached = asyncio.Event()

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        if unit.name.startswith("job.") and unit.name != "job.cancel":
            self.left -= 1
            if not self.left:
                self.reached.set()
                await asyncio.sleep(0)
        return await super().commit(unit, on_prepared)


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("at", range(1, COMMITS))
async def test_cancelling_at_any_moment_leaves_nothing_stuck(at: int, number: int) -> None:
    journal = SignallingJournal(at)
    world, job_ids = await open_world(journal)
    await until(lambda: journal.reached.is_set() or not len(world.jobs))
    job = await world.jobs.get(job_ids[number])
    assert job is not None
    if job.is_open:
        await world.jobs.cancel(job_ids[number])
    await world.idle()
    states = [row["state"] for row in world.rows()]
    assert world.open_rows() == []
    assert all(state == "done" for place, state in enumerate(states) if place != number)
    assert states[number] in ("done", "cancelled")
