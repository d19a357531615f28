"""Background jobs: they are stored in the unit that causes them, and run in order per key until they are finished.

A worker is a task per kind and key with open jobs (`worker`). Jobs of different keys run at the same time, up to the
limit of their kind. Recovery starts a worker for every key with open jobs.
"""

import asyncio
import logging
from collections.abc import Collection, Sequence
from typing import Any

from parlour.core.cluster.ownership import Ownership, SoleOwner
from parlour.core.cluster.parts import shard_part
from parlour.core.errors import CallRejected
from parlour.core.journal import Delete, GuardFailed, Insert, Journal, Ref, Statement, Unit
from parlour.core.model.ids import JobId, PartId
from parlour.core.model.ports import Clock, Ids

from . import job_rows
from .attempts import CANCELLED_REASON, JobAttempts
from .job import RETRYABLE_STATES, Job, JobHandler
from .job_rows import JobStore
from .queue import JobQueue
from .worker import KeyWorker

logger = logging.getLogger(__name__)

LOCAL_OWNER = "host"
"""Owner of the leases of a Host that has its database for itself; a restarted Host continues its own jobs at once."""


class Jobs:
    """Queues, runs, cancels and restarts jobs."""

    def __init__(
        self,
        journal: Journal,
        ids: Ids,
        clock: Clock,
        ownership: Ownership | None = None,
        owner: str = LOCAL_OWNER,
    ) -> None:
        """Works on the jobs of the parts that this Host owns."""
        self._ownership = ownership or SoleOwner()
        self._journal = journal
        self._ids = ids
        self._clock = clock
        self._store = JobStore(journal)
        self._handlers: dict[str, JobHandler] = {}
        self._attempts = JobAttempts(journal, clock, self._ownership, owner)
        self._workers: dict[tuple[str, str], KeyWorker] = {}
        self._closed = False

    def __len__(self) -> int:
        """The number of keys with work in progress or waiting for its next attempt."""
        return len(self._workers)

    def register(self, handler: JobHandler) -> None:
        """Adds the handler of a kind. All kinds are registered before `recover`."""
        if handler.kind in self._handlers:
            raise ValueError(f"the kind of job '{handler.kind}' has two handlers")
        self._handlers[handler.kind] = handler

    def enqueue(
        self,
        kind: str,
        order_key: str,
        payload: dict[str, Any],
        *,
        job_id: JobId | None = None,
        event_seq: int | Ref = 0,
        part: str = "",
        attempts: int = 0,
        max_attempts: int = 0,
        not_before: int = 0,
    ) -> Insert:
        """Returns the statement that stores a job, for the unit that causes it. Call `wake` after the commit."""
        job = Job(
            job_id=job_id or JobId(self._ids.new()),
            kind=kind,
            order_key=order_key,
            part=part or shard_part(order_key),
            state="pending",
            payload=payload,
            event_seq=0,
            attempts=attempts,
            max_attempts=max_attempts,
            interruptions=0,
            not_before=not_before,
            created_at=self._clock.now(),
        )
        return job_rows.insert(job, event_seq)

    @staticmethod
    def withdraw(kind: str, order_key: str, event_seq: int) -> Delete:
        """Returns the statement that deletes the open jobs about an event, because they are no longer needed."""
        return job_rows.delete_of_event(kind, order_key, event_seq)

    def wake(self, kind: str, *order_keys: str) -> None:
        """Starts working on the committed jobs of these keys."""
        for order_key in order_keys:
            worker = self._workers.get((kind, order_key))
            if worker is not None:
                worker.wake()
            elif not self._closed:
                self._start(kind, order_key)

    async def recover(self, parts: Collection[PartId] | None = None) -> None:
        """Continues the jobs of an earlier process, or those of parts that this Host has taken over."""
        for kind, order_key in sorted(await self._store.open_keys(parts)):
            if kind in self._handlers:
                self.wake(kind, order_key)
            else:
                logger.warning("jobs of the kind '%s' have no handler and wait", kind)

    async def drain(self, part: PartId) -> None:
        """Interrupts the jobs of a part that this Host gives away; its next owner attempts them again."""
        await self._attempts.interrupt(part)

    async def close(self) -> None:
        """Stops all workers. Interrupted jobs continue at the next start."""
        self._closed = True
        tasks = [worker.task for worker in self._workers.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def get(self, job_id: JobId) -> Job | None:
        """Returns a job with its current progress."""
        job = await self._store.get(job_id)
        return self._attempts.with_progress(job) if job else None

    def with_progress(self, job: Job) -> Job:
        """Returns a stored job with its current progress."""
        return self._attempts.with_progress(job)

    async def cancel(self, job_id: JobId, *extra_statements: Statement) -> None:
        """Cancels a job. One that runs ends soon; the request is stored and survives a restart.

        Raises CallRejected if there is no such job or it is finished. `extra_statements` are part of the unit.
        """
        while True:
            job = await self._find(job_id)
            if not job.is_open:
                raise CallRejected("conflict", f"the job is {job.state}; only an unfinished job can be cancelled")
            now, is_active = self._clock.now(), job.state == "running" or self._attempts.is_active(job_id)
            statements: Sequence[Statement] = (job_rows.request_cancel(job_id, now),)
            if not is_active:
                handler = self._handlers.get(job.kind)
                notes = handler.on_failed(job, CANCELLED_REASON) if handler else ()
                statements = (job_rows.cancel_pending(job_id, CANCELLED_REASON, now), *notes)
            try:
                await self._journal.commit(Unit("job.cancel", (*statements, *extra_statements)))
            except GuardFailed:
                continue  # it was begun or finished in the meantime
            self._attempts.cancel(job_id)
            self._wake_if_known(job)
            return

    async def retry(self, job_id: JobId, *extra_statements: Statement) -> None:
        """Starts a failed or cancelled job again, or makes a waiting one due at once.

        Raises CallRejected if there is no such job, or it is running or done.
        """
        while True:
            job = await self._find(job_id)
            if job.state not in (*RETRYABLE_STATES, "pending") or self._attempts.is_active(job_id):
                raise CallRejected("conflict", f"the job is {job.state}; only a failed or waiting job can be retried")
            try:
                await self._journal.commit(Unit("job.retry", (job_rows.restart(job), *extra_statements)))
            except GuardFailed:
                continue
            self._wake_if_known(job)
            return

    async def _find(self, job_id: JobId) -> Job:
        job = await self._store.get(job_id)
        if job is None:
            raise CallRejected("not_found", f"there is no job '{job_id}'")
        return job

    def _wake_if_known(self, job: Job) -> None:
        if job.kind in self._handlers:
            self.wake(job.kind, job.order_key)

    def _start(self, kind: str, order_key: str) -> None:
        key = (kind, order_key)
        worker = KeyWorker(
            JobQueue(self._store, self._ownership), self._handlers[kind], self._attempts, self._clock, order_key
        )
        self._workers[key] = worker
        worker.start(lambda: self._workers.pop(key))
