"""Makes the attempts of jobs: counts an attempt before it, renews the lease during it, and records its result."""

import asyncio
import logging
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import assert_never

from parlour.core.backoff import exponential_delay
from parlour.core.cluster.ownership import Ownership
from parlour.core.journal import (
    GuardFailed,
    Journal,
    Statement,
    StorageFailed,
    Unit,
    UnitBuilder,
    retry_on_storage_failure,
)
from parlour.core.model.ids import JobId, PartId
from parlour.core.model.ports import Clock
from parlour_sdk.values import dataclass

from . import job_rows
from .job import Job, JobDone, JobFailed, JobHandler, JobResult, JobRetry, JobState
from .progress import JobProgress, ProgressValues

logger = logging.getLogger(__name__)

EXTRA_INTERRUPTED_ATTEMPTS = 2
"""Extra attempts beyond the limit of a job for attempts that were interrupted by a stop of the Host."""
INTERRUPTED_REASON = "the Host stopped in the middle of the last ones"
CANCELLED_REASON = "an operator cancelled it"
LEASE_SECONDS = 60.0
"""Seconds after which another Host may take over a job whose lease is not renewed."""
RENEW_SECONDS = 20.0
"""Seconds between two renewals of a lease."""
CANCEL_SECONDS = 10.0
"""Seconds after which an attempt that ignores the request to cancel it is interrupted."""
JITTER = 0.5
"""Part of a back-off delay that is random."""
MAX_REASON_CHARACTERS = 1000
"""Largest length of a stored reason; the rest is cut off."""


@dataclass(slots=True)
class ActiveAttempt:
    """An attempt in progress."""

    part: str
    progress: JobProgress
    task: asyncio.Task[JobResult]


class JobAttempts:
    """Makes attempts, and knows those in progress."""

    def __init__(self, journal: Journal, clock: Clock, ownership: Ownership, owner: str) -> None:
        self._journal = journal
        self._clock = clock
        self._ownership = ownership
        self._owner = owner
        self._active: dict[JobId, ActiveAttempt] = {}
        self._slots: dict[tuple[str, str], asyncio.Semaphore] = {}

    def is_active(self, job_id: JobId) -> bool:
        """Returns whether an attempt of the job is in progress here."""
        return job_id in self._active

    def may_take_over(self, job: Job) -> bool:
        """Returns whether the Host that made the attempt has ended or given the part away, so that its lease is over.

        That was an earlier process of this Host, or the one that owned the job's part before.
        """
        return job.state == "running" and (job.owner == self._owner or not self._ownership.is_sole)

    def with_progress(self, job: Job) -> Job:
        """Returns the job with the latest progress, which may not be stored yet."""
        active = self._active.get(job.job_id)
        return replace(job, progress=active.progress.values) if active else job

    def cancel(self, job_id: JobId) -> None:
        """Asks the attempt in progress to end, and interrupts it if it does not."""
        active = self._active.get(job_id)
        if active is not None and not active.progress.is_cancelled:
            active.progress.cancel()
            asyncio.get_running_loop().call_later(CANCEL_SECONDS, active.task.cancel)

    async def interrupt(self, part: PartId) -> None:
        """Interrupts the attempts of a part, and waits until they have ended."""
        tasks = [active.task for active in self._active.values() if active.part == part]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def attempt(self, handler: JobHandler, job: Job) -> None:
        """Makes one attempt and records its result. Does nothing if the job was changed in the meantime."""
        async with self._slot(handler, job):
            if not self._ownership.owns(PartId(job.part)):
                return
            try:
                started = await retry_on_storage_failure(partial(self._begin, handler, job), f"job {job.job_id}")
            except GuardFailed:
                return  # cancelled or removed while it waited
            if started is None or not self._ownership.owns(PartId(job.part)):
                return
            active = self._run(handler, started)
            try:
                result = await self._wait_for(handler, started, active)
            finally:
                del self._active[job.job_id]
            if result is not None:
                await self._record(handler, started, result, active.progress)

    def _slot(self, handler: JobHandler, job: Job) -> asyncio.Semaphore:
        group = (handler.kind, handler.concurrency_group(job))
        if group not in self._slots:
            self._slots[group] = asyncio.Semaphore(handler.concurrency)
        return self._slots[group]

    async def _begin(self, handler: JobHandler, job: Job) -> Job | None:
        """Counts the attempt. Returns None if the job is ended instead."""
        if job.cancel_requested_at:
            await self._end(job, "cancelled", CANCELLED_REASON, handler.on_failed(job, CANCELLED_REASON))
            return None
        if job.max_attempts and job.attempts >= job.max_attempts + EXTRA_INTERRUPTED_ATTEMPTS:
            await self._end(job, "failed", INTERRUPTED_REASON, handler.on_failed(job, INTERRUPTED_REASON))
            return None
        started = replace(job, attempts=job.attempts + 1)
        if not handler.counts_before_attempt:
            return started
        now = self._clock.now()
        lease_until = self._lease_end()
        await self._journal.commit(Unit("job.begin", (job_rows.claim(job, self._owner, now, lease_until),)))
        interruptions = job.interruptions + (job.state == "running")
        return replace(
            started,
            state="running",
            interruptions=interruptions,
            owner=self._owner,
            lease_until=lease_until,
            started_at=now,
        )

    def _run(self, handler: JobHandler, job: Job) -> ActiveAttempt:
        guards = [job_rows.require_lease(job)] if handler.counts_before_attempt else []
        progress = JobProgress(job.progress, partial(self._write_progress, job.job_id), guards)
        active = ActiveAttempt(job.part, progress, asyncio.create_task(handler.run(job, progress)))
        self._active[job.job_id] = active
        return active

    async def _write_progress(self, job_id: JobId, values: ProgressValues) -> None:
        unit = Unit("job.progress", (job_rows.save_progress(job_id, values),), can_batch=True)
        await self._journal.commit(unit)

    async def _wait_for(self, handler: JobHandler, job: Job, active: ActiveAttempt) -> JobResult | None:
        """Returns the result of the attempt; None if the job was taken over by another Host or removed."""
        renew_seconds = RENEW_SECONDS if handler.counts_before_attempt else None
        try:
            while True:
                finished, _ = await asyncio.wait({active.task}, timeout=renew_seconds)
                if finished:
                    return _result(job, active)
                if not await self._renew(job):
                    return None
        finally:
            if not active.task.done():
                active.task.cancel()
                await asyncio.wait({active.task})

    async def _renew(self, job: Job) -> bool:
        """Extends the lease. Returns False if it was lost."""
        renewal = job_rows.renew(job.job_id, self._owner, self._lease_end())
        try:
            [[row]] = await self._journal.commit(Unit("job.renew", (renewal,), can_batch=True))
        except GuardFailed:
            logger.warning("job %s was taken over or removed during its attempt", job.job_id)
            return False
        except StorageFailed as failure:
            logger.error("the lease of job %s was not renewed: %s", job.job_id, failure.message)
            return True
        if row["cancel_requested_at"]:
            self.cancel(job.job_id)
        return True

    def _lease_end(self) -> int:
        return self._clock.now() + round(LEASE_SECONDS * 1000)

    async def _record(self, handler: JobHandler, job: Job, result: JobResult, progress: JobProgress) -> None:
        """Records the result of an attempt; waits while the database fails, so that the attempt is not repeated."""
        job = replace(job, progress=progress.values)
        record = partial(self._try_record, handler, job, result, progress.is_cancelled)
        try:
            await retry_on_storage_failure(record, f"the result of job {job.job_id}")
        except GuardFailed:
            logger.info("job %s was ended or removed during its attempt", job.job_id)

    async def _try_record(self, handler: JobHandler, job: Job, result: JobResult, is_cancelled: bool) -> None:
        match result:
            case JobDone(statements, commit):
                ending = (
                    job_rows.finish(job, "done", "", self._clock.now()) if handler.keeps_done else job_rows.remove(job)
                )
                unit = UnitBuilder("job.end")
                unit.add(ending, *statements)
                await (commit(unit) if commit is not None else self._journal.commit(unit.build()))
            case JobRetry() if is_cancelled:
                await self._end(job, "cancelled", CANCELLED_REASON, handler.on_failed(job, CANCELLED_REASON))
            case JobRetry(reason) if job.max_attempts and job.attempts >= job.max_attempts:
                await self._end(job, "failed", reason, handler.on_failed(job, reason))
            case JobRetry():
                await self._postpone(handler, job, result)
            case JobFailed(reason, statements):
                await self._end(job, "cancelled" if is_cancelled else "failed", reason, statements)
            case _:
                assert_never(result)

    async def _postpone(self, handler: JobHandler, job: Job, result: JobRetry) -> None:
        seconds = result.after_seconds
        if seconds is None:
            delay = exponential_delay(job.attempts, handler.first_retry_seconds, handler.max_retry_seconds)
            seconds = delay * random.uniform(1 - JITTER, 1)
        not_before = self._clock.now() + round(seconds * 1000)
        waiting = replace(job, payload=job.payload if result.payload is None else result.payload)
        update = job_rows.postpone(waiting, not_before, _short(result.reason))
        await self._journal.commit(Unit("job.wait", (update, *result.statements)))

    async def _end(self, job: Job, state: JobState, reason: str, statements: Sequence[Statement]) -> None:
        ending = job_rows.finish(job, state, _short(reason), self._clock.now())
        await self._journal.commit(Unit("job.end", (ending, *statements)))


def _result(job: Job, active: ActiveAttempt) -> JobResult:
    """Returns the result of a finished attempt. An exception is a reason to retry."""
    if active.task.cancelled():
        return JobRetry("it was interrupted")
    error = active.task.exception()
    if error is None:
        return active.task.result()
    logger.error("an attempt of job %s (%s) failed", job.job_id, job.kind, exc_info=error)
    return JobRetry(f"{type(error).__name__}: {error}")


def _short(reason: str) -> str:
    return reason[:MAX_REASON_CHARACTERS]
