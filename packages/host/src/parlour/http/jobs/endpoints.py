"""Endpoints to list, read, cancel and retry background jobs."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from parlour.core.access import audit
from parlour.core.errors import CallRejected
from parlour.core.jobs.job import Job, JobState
from parlour.core.jobs.job_rows import restore_job
from parlour.core.jobs.jobs import Jobs
from parlour.core.journal import Insert, Row, where
from parlour.core.model.ids import JobId
from parlour.core.model.ports import Clock
from parlour.core.store.tables import JOBS

from ..api_router import ApiRouter
from ..auth import Operator
from ..errors import Problem, not_found
from ..pagination import Cursor, Limit, Pages
from ..principals import Principal
from ..responses import PageResponse
from .responses import JobResponse

JobPath = Annotated[JobId, Path(max_length=64)]
Kind = Annotated[str | None, Query(max_length=64, description="Only jobs of this kind, such as `webhook`")]


def router(jobs: Jobs, pages: Pages, clock: Clock) -> APIRouter:
    routes = ApiRouter(tags=["jobs"])

    def view(row: Row) -> JobResponse:
        return _to_response(jobs.with_progress(restore_job(row)))

    async def find(job_id: JobId) -> Job:
        job = await jobs.get(job_id)
        if job is None:
            raise not_found(f"job '{job_id}'", "GET /api/v1/jobs lists them")
        return job

    def audit_entry(principal: Principal, action: str, job: Job, state: JobState) -> Insert:
        before, after = {"kind": job.kind, "state": job.state}, {"kind": job.kind, "state": state}
        return audit.change_entry(principal.owner, action, job.job_id, before, after, clock.now())

    @routes.get("/jobs")
    async def list_jobs(
        principal: Operator,
        state: JobState | None = None,
        kind: Kind = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> PageResponse[JobResponse]:
        """Newest first. Finished jobs of some kinds are not kept; failed ones are kept for 30 days."""
        conditions = (where(state=state) if state else ()) + (where(kind=kind) if kind else ())
        return await pages.page(JOBS, conditions, "job_id", view, limit, cursor)

    @routes.get("/jobs/{job_id}")
    async def read_job(job_id: JobPath, principal: Operator) -> JobResponse:
        return _to_response(await find(job_id))

    @routes.post("/jobs/{job_id}/cancel")
    async def cancel_job(job_id: JobPath, principal: Operator) -> JobResponse:
        """A job that runs is asked to end; the answer may still show it as running."""
        job = await find(job_id)
        entry = audit_entry(principal, "job.cancel", job, "cancelled")
        try:
            await jobs.cancel(job_id, entry)
        except CallRejected as refusal:
            raise Problem(409, "conflict", refusal.message) from refusal
        return _to_response(await find(job_id))

    @routes.post("/jobs/{job_id}/retry")
    async def retry_job(job_id: JobPath, principal: Operator) -> JobResponse:
        """A failed or cancelled job starts over; a waiting one is attempted at once."""
        job = await find(job_id)
        entry = audit_entry(principal, "job.retry", job, "pending")
        try:
            await jobs.retry(job_id, entry)
        except CallRejected as refusal:
            raise Problem(409, "conflict", refusal.message) from refusal
        return _to_response(await find(job_id))

    return routes


def _to_response(job: Job) -> JobResponse:
    progress = job.progress
    return {
        "job_id": job.job_id,
        "kind": job.kind,
        "key": job.order_key,
        "state": job.state,
        "progress": {
            "stage": progress.stage,
            "done": progress.done,
            "total": progress.total,
            "message": progress.message,
        },
        "attempts": job.attempts,
        "max_attempts": job.max_attempts or None,
        "interruptions": job.interruptions,
        "error": job.error or None,
        "event_seq": job.event_seq or None,
        "cancel_requested_at": job.cancel_requested_at or None,
        "next_attempt_at": job.not_before or None if job.state == "pending" else None,
        "created_at": job.created_at,
        "started_at": job.started_at or None,
        "finished_at": job.finished_at or None,
    }
