"""Response schemas of background jobs."""

from typing_extensions import TypedDict

from parlour.core.jobs.job import JobState

from ..responses import Id, TimestampMs


class JobProgressResponse(TypedDict):
    """How far a job is; empty texts and zeros where its kind reports nothing."""

    stage: str
    done: int
    total: int
    """0 if the total is not known."""
    message: str


class JobResponse(TypedDict):
    job_id: Id
    kind: str
    key: str
    """Jobs of one kind with the same key run one after the other."""
    state: JobState
    progress: JobProgressResponse
    attempts: int
    max_attempts: int | None
    """Null if attempts have no limit."""
    interruptions: int
    """Attempts that a stop of the Host ended; it is not known how far they came."""
    error: str | None
    """Why the last attempt failed."""
    event_seq: int | None
    """Number of the event that the job is about."""
    cancel_requested_at: TimestampMs | None
    next_attempt_at: TimestampMs | None
    created_at: TimestampMs
    started_at: TimestampMs | None
    finished_at: TimestampMs | None
