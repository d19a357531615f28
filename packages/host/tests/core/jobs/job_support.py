"""A service of jobs with a handler that tests control, on virtual time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

from parlour.core.cluster.ownership import Ownership
from parlour.core.jobs.job import OPEN_STATES, Job, JobDone, JobHandler, JobResult
from parlour.core.jobs.jobs import LOCAL_OWNER, Jobs
from parlour.core.jobs.progress import JobProgress
from parlour.core.journal import Row, Select, Statement, Unit
from parlour.core.model.ids import JobId
from parlour.core.store.tables import JOBS

from ..support import BreakableJournal, CountedIds, LoopClock, until

Behaviour = Callable[[Job, JobProgress], Awaitable[JobResult]]


async def succeed(job: Job, progress: JobProgress) -> JobResult:
    return JobDone()


class ToyHandler(JobHandler):
    """Records each attempt, and then does what the test says for the payload's name."""

    kind: ClassVar[str] = "toy"
    concurrency: ClassVar[int] = 2

    def __init__(self) -> None:
        self.attempts: list[tuple[str, int]] = []
        """Name and attempt number, in order."""
        self.behaviours: dict[str, Behaviour] = {}
        self.failures: list[tuple[str, str]] = []

    async def run(self, job: Job, progress: JobProgress) -> JobResult:
        name = job.payload["name"]
        self.attempts.append((name, job.attempts))
        return await self.behaviours.get(name, succeed)(job, progress)

    def on_failed(self, job: Job, reason: str) -> tuple[Statement, ...]:
        self.failures.append((job.payload["name"], reason))
        return ()

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.attempts]


class JobsWorld:
    """Jobs on a journal that survives restarts."""

    def __init__(
        self,
        journal: BreakableJournal | None = None,
        handler: ToyHandler | None = None,
        ids: CountedIds | None = None,
        ownership: Ownership | None = None,
        owner: str = LOCAL_OWNER,
    ) -> None:
        self.journal = journal or BreakableJournal()
        self.handler = handler or ToyHandler()
        self.ids = ids or CountedIds()
        self.jobs = Jobs(self.journal, self.ids, LoopClock(), ownership, owner)
        self.jobs.register(self.handler)

    async def add(self, name: str, order_key: str = "key", **options: Any) -> JobId:
        insert = self.jobs.enqueue("toy", order_key, {"name": name}, **options)
        await self.journal.commit(Unit("test.add", (insert,)))
        self.jobs.wake("toy", order_key)
        return JobId(str(insert.values["job_id"]))

    async def idle(self) -> None:
        await until(lambda: not len(self.jobs))

    def row(self, job_id: JobId) -> Row:
        [row] = [row for row in self.rows() if row["job_id"] == job_id]
        return row

    def rows(self) -> list[Row]:
        return self.journal.database.read(Select(JOBS, order=("job_id",)))

    def open_rows(self) -> list[Row]:
        return [row for row in self.rows() if row["state"] in OPEN_STATES]

    def die(self) -> None:
        self.journal.dead = True
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        vars(asyncio.get_running_loop()).setdefault("ghosts", []).extend(tasks)

    async def restart(self) -> "JobsWorld":
        """Starts a new Host on the same database and recovers its jobs."""
        if not self.journal.dead:
            self.die()
        world = JobsWorld(BreakableJournal(self.journal.database), self.handler, self.ids)
        await world.jobs.recover()
        return world
