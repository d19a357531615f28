"""Statements and queries of the table of jobs. Each change of a job is guarded by its state."""

from collections.abc import Collection
from typing import Final

from parlour.core.encoding import dumps, loads
from parlour.core.journal import (
    ANY,
    Condition,
    Delete,
    Insert,
    Journal,
    Ref,
    Row,
    Select,
    Update,
    Value,
    above,
    at_most,
    one_of,
    where,
)
from parlour.core.model.ids import JobId, PartId
from parlour.core.store.tables import JOBS
from parlour_sdk.values import dataclass

from .job import OPEN_STATES, RETRYABLE_STATES, Job, JobState
from .progress import ProgressValues

_RELEASED: Final[dict[str, Value]] = {"owner": "", "lease_until": 0}


def insert(job: Job, event_seq: int | Ref) -> Insert:
    """Builds the statement that inserts a job. The number of its event may be that of an event in the same unit."""
    values: dict[str, Value | Ref] = {
        "job_id": job.job_id,
        "kind": job.kind,
        "order_key": job.order_key,
        "part": job.part,
        "state": job.state,
        "payload": dumps(job.payload),
        "owner": "",
        "stage": "",
        "message": "",
        "error": "",
        "event_seq": event_seq,
        "attempts": job.attempts,
        "max_attempts": job.max_attempts,
        "interruptions": 0,
        "not_before": job.not_before,
        "done": 0,
        "total": 0,
        "cancel_requested_at": 0,
        "lease_until": 0,
        "created_at": job.created_at,
        "started_at": 0,
        "finished_at": 0,
    }
    return Insert(JOBS, values)


def delete_of_event(kind: str, order_key: str, event_seq: int) -> Delete:
    """Builds the statement that deletes the open jobs of a kind about an event, if there are any."""
    return Delete(
        JOBS, where(kind=kind, order_key=order_key, event_seq=event_seq, state=one_of(*OPEN_STATES)), expect=ANY
    )


def claim(job: Job, owner: str, now: int, lease_until: int) -> Update:
    """Builds the statement that counts an attempt before it is made.

    It fails if the job was changed or is to be cancelled.
    """
    values: dict[str, Value] = {
        "state": "running",
        "attempts": job.attempts + 1,
        "interruptions": job.interruptions + (job.state == "running"),
        "owner": owner,
        "lease_until": lease_until,
        "started_at": now,
    }
    guard = where(job_id=job.job_id, state=job.state, attempts=job.attempts, cancel_requested_at=0)
    return Update(JOBS, {**values}, guard)


def renew(job_id: JobId, owner: str, lease_until: int) -> Update:
    """Builds the statement that extends the lease of a running job. Its receipt says whether to cancel the job."""
    guard = where(job_id=job_id, state="running", owner=owner)
    return Update(JOBS, {"lease_until": lease_until}, guard, returning=("cancel_requested_at",))


def require_lease(job: Job) -> Update:
    """Builds the statement that fails its unit if another Host has taken over the job, or it was removed."""
    return Update(JOBS, {"owner": job.owner}, _attempt_guard(job))


def save_progress(job_id: JobId, progress: ProgressValues) -> Update:
    """Builds the statement that stores the progress of an open job."""
    return Update(JOBS, {**_progress_columns(progress)}, _open(job_id), expect=ANY)


def postpone(job: Job, not_before: int, reason: str) -> Update:
    """Builds the statement that schedules the next attempt of a job, and stores its payload, attempts and progress."""
    values: dict[str, Value] = {
        "state": "pending",
        "payload": dumps(job.payload),
        "attempts": job.attempts,
        "not_before": not_before,
        "error": reason,
        **_RELEASED,
        **_progress_columns(job.progress),
    }
    return Update(JOBS, {**values}, _attempt_guard(job))


def finish(job: Job, state: JobState, reason: str, now: int) -> Update:
    """Builds the statement that ends a job and keeps its row, with its attempts and progress as given."""
    values: dict[str, Value] = {
        "state": state,
        "attempts": job.attempts,
        "error": reason,
        "finished_at": now,
        **_RELEASED,
        **_progress_columns(job.progress),
    }
    return Update(JOBS, {**values}, _attempt_guard(job))


def remove(job: Job) -> Delete:
    """Builds the statement that ends a job and deletes its row."""
    return Delete(JOBS, _attempt_guard(job))


def cancel_pending(job_id: JobId, reason: str, now: int) -> Update:
    """Builds the statement that cancels a job that no worker runs."""
    values: dict[str, Value] = {"state": "cancelled", "error": reason, "finished_at": now, "cancel_requested_at": now}
    return Update(JOBS, {**values}, where(job_id=job_id, state="pending"))


def request_cancel(job_id: JobId, now: int) -> Update:
    """Builds the statement that stores the request to cancel a job that a worker runs."""
    return Update(JOBS, {"cancel_requested_at": now}, _open(job_id))


def restart(job: Job) -> Update:
    """Builds the statement that makes a job due at once; one that has failed or was cancelled starts over."""
    values: dict[str, Value] = {"not_before": 0}
    if job.state in RETRYABLE_STATES:
        values |= {
            "state": "pending",
            "attempts": 0,
            "interruptions": 0,
            "error": "",
            "finished_at": 0,
            "cancel_requested_at": 0,
        }
    return Update(JOBS, {**values}, where(job_id=job.job_id, state=job.state, attempts=job.attempts))


def _open(job_id: JobId) -> tuple[Condition, ...]:
    return where(job_id=job_id, state=one_of(*OPEN_STATES))


def _attempt_guard(job: Job) -> tuple[Condition, ...]:
    """Returns the conditions under which the worker of an attempt may still change the job."""
    return where(job_id=job.job_id, state=job.state, owner=job.owner)


def _progress_columns(progress: ProgressValues) -> dict[str, Value]:
    return {
        "stage": progress.stage,
        "done": progress.done,
        "total": progress.total,
        "message": progress.message,
    }


@dataclass(frozen=True, slots=True)
class NextJob:
    """The next job of a key, or when to look again."""

    job: Job | None = None
    due_at: int = 0
    """Time at which the job, or else the first job that is scheduled for later, is due; 0 if there is none."""


class JobStore:
    """Reads jobs."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def get(self, job_id: JobId) -> Job | None:
        rows = await self._journal.read(Select(JOBS, where(job_id=job_id), limit=1, point_read=True))
        return restore_job(rows[0]) if rows else None

    async def open_keys(self, parts: Collection[PartId] | None = None) -> set[tuple[str, str]]:
        """Returns kind and key of all jobs that are not finished, or of those of some parts."""
        conditions = where(state=one_of(*OPEN_STATES)) + (where(part=one_of(*parts)) if parts is not None else ())
        query = Select(JOBS, conditions, ("kind", "order_key"))
        return {(row["kind"], row["order_key"]) for row in await self._journal.read(query)}

    async def open_parts(self, kind: str, order_key: str) -> set[PartId]:
        """Returns the parts of the open jobs of a key."""
        conditions = where(kind=kind, order_key=order_key, state=one_of(*OPEN_STATES))
        return {PartId(row["part"]) for row in await self._journal.read(Select(JOBS, conditions, ("part",)))}

    async def next(self, kind: str, order_key: str, now: int, part: PartId | None = None) -> NextJob:
        """Returns the first job of a key, or of those that belong to a part, even if it waits for its next attempt.

        A job without attempts that is scheduled for later does not hold up the jobs after it.
        """
        in_key = where(kind=kind, order_key=order_key) + (where(part=part) if part is not None else ())
        due = await self._first(in_key + where(state="pending", not_before=at_most(now)))
        is_open = in_key + where(state=one_of(*OPEN_STATES))
        attempted = is_open + where(attempts=above(0))
        if due is None:
            if await self._first(is_open, order=()) is None:
                return NextJob()
            head = await self._first(attempted)
        else:
            head = await self._first(attempted + _not_after(due)) or due
        if head is not None:
            return NextJob(head, max(head.not_before, head.lease_until if head.state == "running" else 0))
        scheduled = await self._first(is_open, order=("not_before",))
        return NextJob(None, scheduled.not_before if scheduled else 0)

    async def _first(
        self, conditions: tuple[Condition, ...], order: tuple[str, ...] = ("event_seq", "job_id")
    ) -> Job | None:
        rows = await self._journal.read(Select(JOBS, conditions, order=order, limit=1, point_read=True))
        return restore_job(rows[0]) if rows else None


def _not_after(job: Job) -> tuple[Condition, ...]:
    """Returns conditions for the jobs of a key up to this one in their order."""
    if job.event_seq:
        return where(event_seq=at_most(job.event_seq))
    return where(event_seq=0, job_id=at_most(job.job_id))


def restore_job(row: Row) -> Job:
    """Returns the job of a row."""
    return Job(
        job_id=row["job_id"],
        kind=row["kind"],
        order_key=row["order_key"],
        part=row["part"],
        state=row["state"],
        payload=loads(row["payload"]),
        event_seq=row["event_seq"],
        attempts=row["attempts"],
        max_attempts=row["max_attempts"],
        interruptions=row["interruptions"],
        not_before=row["not_before"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        cancel_requested_at=row["cancel_requested_at"],
        owner=row["owner"],
        lease_until=row["lease_until"],
        progress=ProgressValues(row["stage"], row["done"], row["total"], row["message"]),
        error=row["error"],
    )
