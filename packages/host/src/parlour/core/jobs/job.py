"""A job, the possible results of an attempt, and the base class of the handlers that run jobs."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar, Final, Literal

from parlour.core.journal import Statement, UnitBuilder
from parlour.core.model.ids import JobId
from parlour_sdk.values import dataclass

from .progress import JobProgress, ProgressValues

JobState = Literal["pending", "running", "done", "failed", "cancelled"]
OPEN_STATES: Final = ("pending", "running")
"""States of jobs that are not finished."""
RETRYABLE_STATES: Final = ("failed", "cancelled")
"""Final states from which an operator can start a job again."""


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of background work, as it is stored."""

    job_id: JobId
    kind: str
    order_key: str
    """Jobs of one kind with the same key run one after the other."""
    part: str
    state: JobState
    payload: dict[str, Any]
    event_seq: int
    """Number of the event that the job is about, or 0. The job is deleted with the conversation of the event."""
    attempts: int
    """Attempts that were begun, including the current one."""
    max_attempts: int
    """Attempts after which the job fails; 0 means without limit."""
    interruptions: int
    """Attempts that a stop of the Host ended, so that it is unknown how far they came."""
    not_before: int
    created_at: int
    started_at: int = 0
    finished_at: int = 0
    cancel_requested_at: int = 0
    owner: str = ""
    lease_until: int = 0
    progress: ProgressValues = ProgressValues()
    error: str = ""

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES


@dataclass(frozen=True, slots=True)
class JobDone:
    """Result of an attempt that finished the job."""

    statements: Sequence[Statement] = ()
    """Statements for the unit that ends the job."""
    commit: Callable[[UnitBuilder], Awaitable[None]] | None = None
    """Completes and commits the unit, if something has to be published after it. It is called again with a new unit
    while the database fails."""


@dataclass(frozen=True, slots=True)
class JobRetry:
    """Result of an attempt that is to be repeated."""

    reason: str
    after_seconds: float | None = None
    """Seconds until the next attempt; None means exponential back-off with jitter."""
    statements: Sequence[Statement] = ()
    payload: dict[str, Any] | None = None
    """The new payload; None means unchanged."""


@dataclass(frozen=True, slots=True)
class JobFailed:
    """Result of an attempt after which the job is given up."""

    reason: str
    statements: Sequence[Statement] = ()


JobResult = JobDone | JobRetry | JobFailed


class JobHandler(ABC):
    """Runs the jobs of one kind."""

    kind: ClassVar[str]
    counts_before_attempt: ClassVar[bool] = True
    """True if each attempt is committed before it is made. False saves that commit, if an attempt can be repeated
    after a crash any number of times; such a job is never `running`."""
    keeps_done: ClassVar[bool] = True
    """True if finished jobs stay in the list until their retention period is over. Failed jobs always stay."""
    concurrency: ClassVar[int] = 4
    """Largest number of attempts at the same time, per `concurrency_group`."""
    first_retry_seconds: ClassVar[float] = 1.0
    max_retry_seconds: ClassVar[float] = 3600.0

    def concurrency_group(self, job: Job) -> str:
        """Returns the group that shares the limit of concurrent attempts; by default all jobs of the kind."""
        return ""

    @abstractmethod
    async def run(self, job: Job, progress: JobProgress) -> JobResult:
        """Makes one attempt. It should return soon after `progress.is_cancelled` becomes true.

        An exception is a failed attempt, which is repeated. If `job.interruptions` is not 0, an earlier attempt may
        have had its effect.
        """

    def on_failed(self, job: Job, reason: str) -> Sequence[Statement]:
        """Returns statements for the unit that ends a job without success: attempts are used up, or it is cancelled."""
        return ()
