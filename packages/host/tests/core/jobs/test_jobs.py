"""Jobs run in order per key, are retried with growing delays, and can be cancelled and restarted."""

import asyncio

import pytest

from parlour.core.cluster.parts import shard_part
from parlour.core.errors import CallRejected
from parlour.core.jobs.attempts import CANCEL_SECONDS, EXTRA_INTERRUPTED_ATTEMPTS, RENEW_SECONDS
from parlour.core.jobs.job import Job, JobDone, JobFailed, JobResult, JobRetry
from parlour.core.jobs.progress import JobProgress
from parlour.core.journal import Unit, Update, where
from parlour.core.model.ids import JobId
from parlour.core.store.tables import JOBS

from ..support import EPOCH, settle, until
from .job_support import Behaviour, JobsWorld


def failing(*results: JobResult | Exception) -> Behaviour:
    """Returns these results one after the other, and then succeeds."""
    left = list(results)

    async def behave(job: Job, progress: JobProgress) -> JobResult:
        result = left.pop(0) if left else JobDone()
        if isinstance(result, Exception):
            raise result
        return result

    return behave


def holding(event: asyncio.Event) -> Behaviour:
    async def behave(job: Job, progress: JobProgress) -> JobResult:
        await event.wait()
        return JobDone()

    return behave


async def wait_for_cancel(job: Job, progress: JobProgress) -> JobResult:
    await progress.wait_cancelled()
    return JobFailed("it stopped half-way")


async def ignore_cancel(job: Job, progress: JobProgress) -> JobResult:
    await asyncio.Event().wait()
    return JobDone()


async def test_jobs_of_one_key_run_in_order_of_their_events_then_ids() -> None:
    world = JobsWorld()
    for name, event_seq in (("c", 9), ("a", 0), ("b", 0), ("d", 9)):
        insert = world.jobs.enqueue("toy", "key", {"name": name}, event_seq=event_seq)
        await world.journal.commit(Unit("test.add", (insert,)))
    world.jobs.wake("toy", "key")
    await world.idle()
    assert world.handler.names == ["a", "b", "c", "d"]
    assert {row["state"] for row in world.rows()} == {"done"}
    assert {row["part"] for row in world.rows()} == {shard_part("key")}


async def test_failed_job_holds_up_its_key_and_no_other() -> None:
    world = JobsWorld()
    world.handler.behaviours["a"] = failing(JobRetry("later", 50))
    for name, key in (("a", "one"), ("b", "one"), ("c", "two")):
        await world.add(name, key)
    await world.idle()
    assert world.handler.attempts == [("a", 1), ("c", 1), ("a", 2), ("b", 1)]


async def test_job_that_is_scheduled_for_later_holds_up_nothing() -> None:
    world = JobsWorld()
    await world.add("later", not_before=EPOCH + 60_000)
    await world.add("now")
    await until(lambda: world.handler.names == ["now"])
    assert asyncio.get_running_loop().time() < 1
    await world.idle()
    assert world.handler.names == ["now", "later"]
    assert asyncio.get_running_loop().time() >= 60


async def test_concurrency_of_a_kind_is_limited() -> None:
    world, hold = JobsWorld(), asyncio.Event()
    for number in range(5):
        world.handler.behaviours[f"{number}"] = holding(hold)
        await world.add(f"{number}", f"key {number}")
    await settle()
    assert len(world.handler.attempts) == world.handler.concurrency
    hold.set()
    await world.idle()
    assert len(world.handler.attempts) == 5


async def test_attempts_grow_apart_with_jitter_until_the_job_fails_visibly() -> None:
    world = JobsWorld()
    world.handler.behaviours["a"] = failing(*[ValueError("no parser")] * 9)
    job_id = await world.add("a", max_attempts=4)
    await world.idle()
    row = world.row(job_id)
    assert (row["state"], row["attempts"], row["error"]) == ("failed", 4, "ValueError: no parser")
    assert world.handler.failures == [("a", "ValueError: no parser")]
    assert 3.5 <= asyncio.get_running_loop().time() <= 8, "1 + 2 + 4 seconds, each between half and the whole"


async def test_job_that_repeatedly_stops_the_host_is_given_up() -> None:
    world = JobsWorld()
    world.handler.behaviours["a"] = ignore_cancel
    job_id = await world.add("a", max_attempts=1)
    for number in range(1, 2 + EXTRA_INTERRUPTED_ATTEMPTS):
        await until(lambda: len(world.handler.attempts) == number)  # noqa: B023
        world = await world.restart()
    await world.idle()
    row = world.row(job_id)
    assert (row["state"], row["attempts"], row["interruptions"]) == ("failed", 3, 2)
    assert "the Host stopped" in row["error"]


async def test_progress_is_stored_at_most_once_a_second_and_current_when_read() -> None:
    world = JobsWorld()

    async def behave(job: Job, progress: JobProgress) -> JobResult:
        await progress.report("parse", total=100)
        for done in range(1, 101):
            await progress.report(done=done)
            await asyncio.sleep(0.05)
        await progress.report("index", message="almost")
        return JobDone()

    world.handler.behaviours["a"] = behave
    job_id = await world.add("a")
    await asyncio.sleep(2.52)
    job = await world.jobs.get(job_id)
    assert job is not None
    assert (job.progress.stage, job.progress.done, job.progress.total) == ("parse", 51, 100)
    assert world.row(job_id)["done"] < 51
    await world.idle()
    assert 5 <= world.journal.units.count("job.progress") <= 7
    row = world.row(job_id)
    assert (row["stage"], row["done"], row["message"], row["state"]) == ("index", 100, "almost", "done")


async def test_waiting_job_is_cancelled_and_can_be_retried() -> None:
    world = JobsWorld()
    world.handler.behaviours["a"] = failing(JobRetry("later", 3600))
    job_id = await world.add("a")
    await until(lambda: world.journal.units.count("job.wait") == 1)
    await world.jobs.cancel(job_id)
    await world.idle()
    assert world.row(job_id)["state"] == "cancelled"
    assert world.handler.failures == [("a", "an operator cancelled it")]
    with pytest.raises(CallRejected, match="is cancelled"):
        await world.jobs.cancel(job_id)
    await world.jobs.retry(job_id)
    await world.idle()
    assert (world.row(job_id)["state"], world.handler.attempts) == ("done", [("a", 1), ("a", 1)])


async def test_retry_makes_a_waiting_job_due_at_once() -> None:
    world = JobsWorld()
    world.handler.behaviours["a"] = failing(JobRetry("later", 3600))
    job_id = await world.add("a")
    await until(lambda: world.journal.units.count("job.wait") == 1)
    await world.jobs.retry(job_id)
    await world.idle()
    assert asyncio.get_running_loop().time() < 10
    assert world.row(job_id)["state"] == "done"


@pytest.mark.parametrize(("behaviour", "seconds"), [(wait_for_cancel, 0), (ignore_cancel, CANCEL_SECONDS)])
async def test_running_job_is_cancelled(behaviour: Behaviour, seconds: float) -> None:
    world = JobsWorld()
    world.handler.behaviours["a"] = behaviour
    job_id = await world.add("a")
    await world.add("b")
    await until(lambda: bool(world.handler.attempts))
    await world.jobs.cancel(job_id)
    await world.idle()
    row = world.row(job_id)
    assert row["state"] == "cancelled"
    assert row["finished_at"] - row["cancel_requested_at"] == seconds * 1000
    assert world.handler.names == ["a", "b"]


async def test_request_to_cancel_survives_a_restart() -> None:
    world = JobsWorld()
    world.handler.behaviours["a"] = ignore_cancel
    job_id = await world.add("a")
    await until(lambda: bool(world.handler.attempts))
    await world.jobs.cancel(job_id)
    world = await world.restart()
    await world.idle()
    assert world.row(job_id)["state"] == "cancelled"
    assert world.handler.attempts == [("a", 1)]


async def test_lease_is_renewed_and_a_lost_one_ends_the_attempt() -> None:
    world = JobsWorld()
    world.handler.behaviours["a"] = ignore_cancel
    job_id = await world.add("a")
    await asyncio.sleep(RENEW_SECONDS * 2 + 1)
    assert world.journal.units.count("job.renew") == 2
    taken = {"owner": "other", "lease_until": EPOCH + 500_000}
    await world.journal.commit(Unit("test.take", (Update(JOBS, {**taken}, where(job_id=job_id)),)))
    await asyncio.sleep(RENEW_SECONDS)
    assert not world.jobs._attempts.is_active(job_id)
    assert world.row(job_id)["owner"] == "other"
    del world.handler.behaviours["a"]
    await world.idle()
    assert asyncio.get_running_loop().time() >= 500, "the lease of the other Host is respected"
    assert (world.row(job_id)["state"], world.row(job_id)["interruptions"]) == ("done", 1)


async def test_result_is_recorded_when_the_database_works_again() -> None:
    world = JobsWorld()
    world.journal.broken["job.end"] = 5
    job_id = await world.add("a")
    await world.idle()
    assert (world.handler.names, world.row(job_id)["state"]) == (["a"], "done")


@pytest.mark.parametrize("unit", ["job.begin", "job.wait", "job.end"])
async def test_commit_with_unknown_result_loses_nothing(unit: str) -> None:
    world = JobsWorld()
    world.handler.behaviours["a"] = failing(JobRetry("later", 1))
    world.journal.unsure[unit] = 1
    job_id = await world.add("a")
    await world.idle()
    assert world.row(job_id)["state"] == "done"
    assert len(world.handler.attempts) == 2


async def test_unknown_job_is_refused() -> None:
    world = JobsWorld()
    for operation in (world.jobs.cancel, world.jobs.retry):
        with pytest.raises(CallRejected) as refusal:
            await operation(JobId("absent"))
        assert refusal.value.code == "not_found"
