"""Deletes old rows, in small steps with pauses between them, so that no message is delayed.

Each step is one unit that also stores the progress of the job. An interrupted job starts again with the oldest row
that is left. Nothing is deleted while the clock is unreliable (`clock_check`). One job deletes only a share of a table.
"""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any

from parlour.core.encoding import dumps, loads
from parlour.core.journal import (
    ANY,
    Delete,
    GuardFailed,
    Insert,
    Journal,
    Row,
    Select,
    Statement,
    StorageFailed,
    Table,
    Unit,
    Update,
    Upsert,
    above,
    at_most,
    below,
    one_of,
    where,
)
from parlour.core.model.ports import Clock
from parlour_sdk.values import dataclass

from .artifact_service import ArtifactService
from .clock_check import DAY_MILLISECONDS, ClockCheck
from .retention_queries import FINAL_STATUSES, SWEEPS, Sweep
from .tables import (
    ARTIFACTS,
    BOX_WORKSPACES,
    BUDGET_USES,
    DIRECTORY,
    DIRECTORY_MEMBERS,
    DIRECTORY_MESSAGES,
    JOBS,
    LIMITS,
    LOGINS,
    MEMORIES,
    META,
    NAMES,
    OUTBOX,
    REPLY_ALLOWANCES,
    RUN_EVENTS,
    RUNS,
    SKILL_ACTIVATIONS,
)

logger = logging.getLogger(__name__)

BATCH_ROWS = 200
"""Rows that one step deletes at most."""
MAX_DELETED_FRACTION = 0.1
"""Largest fraction of a table's rows that one job deletes, so that a wrong clock never deletes everything.

It is larger if the retention period is hardly longer than the interval between two jobs.
"""
MIN_DELETED_ROWS = 200
"""Rows that a job may always delete, even if they exceed the share."""
COUNT_BATCH_ROWS = 5000
"""Rows that are read by one query when a table is counted."""
CLOCK_CHECK_SECONDS = 300.0
"""Seconds between two checks of the clock."""
BUDGET_DAYS = 400
"""Days for which the daily use of budgets is kept."""
JOB_DAYS = 30
"""Days for which finished, failed and cancelled jobs are kept."""
RUN_BATCH_ROWS = 20
"""Runs that are read by one query when run events are deleted."""
MAX_ATTEMPTS = 3
"""Attempts to delete a batch whose guard fails, before it is skipped."""
MIN_PAUSE_SECONDS = 0.02
"""Smallest pause after a step."""
PAUSE_WORK_RATIO = 4.0
"""Pause after a step as a multiple of its duration."""
ERROR_PAUSE_SECONDS = 60.0
"""Pause after an error."""


@dataclass(frozen=True, slots=True)
class RetentionPeriods:
    """Days for which records are kept; 0 means without limit."""

    events: float = 365
    """Events, and with them transcripts, outbox rows and the rows of runs."""
    run_events: float = 30
    artifacts: float = 90
    audit: float = 365
    model_calls: float = 7
    """Prompts, parameters and answers of model calls."""
    directory: float = 90
    """People, chats, members and messages of the directory, after they were last seen."""
    heard: float = 30
    """Messages of groups that were not addressed to a bot."""


@dataclass(slots=True)
class RetentionReport:
    """Report on the last job, as it is stored in the database."""

    started_at: int = 0
    finished_at: int = 0
    removed: Counter[str] = field(default_factory=Counter)

    def upsert(self) -> Insert:
        value = {"started_at": self.started_at, "finished_at": self.finished_at, "removed": dict(self.removed)}
        return _meta_upsert("retention", dumps(value))


class Retention:
    """Deletes records whose retention period is over."""

    def __init__(self, journal: Journal, artifacts: ArtifactService, clock: Clock, terms: RetentionPeriods) -> None:
        self._journal = journal
        self._artifacts = artifacts
        self._clock = clock
        self._periods = terms
        self._clock_check = ClockCheck(journal, clock)
        self._every_days = 1.0
        self._changed = asyncio.Event()

    def set_periods(self, terms: RetentionPeriods) -> None:
        """Changes the retention periods; a job starts immediately if they are different."""
        if terms != self._periods:
            self._periods = terms
            self._changed.set()

    async def last_report(self) -> RetentionReport:
        value = await self._read_meta("retention")
        stored: dict[str, Any] = loads(value) if value else {}
        return RetentionReport(
            stored.get("started_at", 0), stored.get("finished_at", 0), Counter(stored.get("removed", {}))
        )

    async def serve(
        self, first_seconds: float, every_seconds: float, is_due_here: Callable[[], bool] = lambda: True
    ) -> None:
        """Runs a job every `every_seconds`, for as long as the Host runs, while `is_due_here` returns True."""
        self._every_days = every_seconds * 1000 / DAY_MILLISECONDS
        first_at = asyncio.get_running_loop().time() + first_seconds
        while True:
            try:
                is_held = await self._clock_check.is_held() or not is_due_here()
                wait_seconds = max(
                    first_at - asyncio.get_running_loop().time(), await self._seconds_until_next(every_seconds)
                )
                if is_held:
                    await asyncio.sleep(CLOCK_CHECK_SECONDS)
                elif wait_seconds > 0 and not self._changed.is_set():
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._changed.wait(), min(wait_seconds, CLOCK_CHECK_SECONDS))
                else:
                    self._changed.clear()
                    await self.run_once()
            except StorageFailed as failure:
                logger.error("clean-up waits for the database: %s", failure.message)
                await asyncio.sleep(ERROR_PAUSE_SECONDS)
            except Exception:
                logger.exception("clean-up failed; it is retried")
                await asyncio.sleep(ERROR_PAUSE_SECONDS)

    async def _seconds_until_next(self, every_seconds: float) -> float:
        """Returns the seconds until a job is due. A job that ended in the future, by a wrong clock, is ignored."""
        finished_at, now = (await self.last_report()).finished_at, self._clock.now()
        return (finished_at - now) / 1000 + every_seconds if 0 < finished_at <= now else 0

    async def run_once(self) -> RetentionReport:
        """Runs one job and returns its report."""
        report = RetentionReport(self._clock.now())
        await self._remove_run_events(report)
        for sweep in SWEEPS:
            await self._sweep(sweep, report)
        await self._remove_expired(report)
        await self._remove_small_rows(report)
        await self._remove_by_expiry(NAMES, self._clock.now(), report)
        await self._remove_by_expiry(MEMORIES, self._clock.now(), report)
        await self._remove_by_expiry(SKILL_ACTIVATIONS, self._clock.now(), report)
        await self._remove_by_expiry(BOX_WORKSPACES, self._clock.now(), report)
        await self._remove_by_expiry(LIMITS, self._clock.now() - DAY_MILLISECONDS, report)
        await self._remove_finished_jobs(report)
        await self._expire_held_replies(report)
        await self._remove_unseen(report)
        objects = await self._artifacts.collect_orphans()
        report.removed["objects"] = len(objects)
        report.finished_at = self._clock.now()
        await self._journal.commit(Unit("retention.finish", (report.upsert(),)))
        counts = ", ".join(f"{count} {name}" for name, count in report.removed.items() if count)
        logger.info("clean-up deleted %s", counts or "nothing: everything is young enough")
        return report

    async def _sweep(self, sweep: Sweep, report: RetentionReport) -> None:
        days = getattr(self._periods, sweep.period)
        cutoff = self._cutoff(days, report)
        position: tuple[Any, ...] = ()
        tries = 0
        while rows := await self._expired_rows(sweep, position, cutoff):
            removed = report.removed[sweep.table.name]
            if await self._is_share_deleted(sweep.table.name, removed, sweep.table, sweep.key, days, removed):
                return
            removable = await sweep.removable(self._journal, rows)
            try:
                if removable:
                    await self._step(report, sweep.table.name, len(removable), sweep.statements(removable))
            except GuardFailed:
                tries += 1
                if tries < MAX_ATTEMPTS:
                    continue  # one of the rows is needed again or was deleted; check the batch again
            position, tries = where(**{sweep.key: above(rows[-1][sweep.key])}), 0

    async def _expired_rows(self, sweep: Sweep, position: tuple[Any, ...], cutoff: int) -> list[Row]:
        query = Select(sweep.table, position, sweep.columns, order=(sweep.key,), limit=BATCH_ROWS)
        return list(takewhile(lambda row: row["created_at"] < cutoff, await self._journal.read(query)))

    async def _remove_run_events(self, report: RetentionReport) -> None:
        """Deletes the events of old runs whose own rows stay.

        The position is stored, up to the first run that still needs its events.
        """
        cutoff = self._cutoff(self._periods.run_events, report)
        position = await self._read_meta("retention.run_events")
        all_final, deleted_runs = True, 0
        while True:
            columns = ("run_id", "status", "created_at", "finished_at")
            query = Select(RUNS, where(run_id=above(position)), columns, order=("run_id",), limit=RUN_BATCH_ROWS)
            rows = list(takewhile(lambda row: row["created_at"] < cutoff, await self._journal.read(query)))
            if not rows:
                return
            if await self._is_share_deleted("run_events", deleted_runs, RUNS, "run_id", self._periods.run_events, 0):
                return
            final_run_ids = [
                row["run_id"] for row in rows if row["status"] in FINAL_STATUSES and row["finished_at"] < cutoff
            ]
            await self._delete_run_events(final_run_ids, report)
            deleted_runs += len(final_run_ids)
            position, all_final = rows[-1]["run_id"], all_final and len(final_run_ids) == len(rows)
            if all_final:
                await self._journal.commit(Unit("retention.pass", (_meta_upsert("retention.run_events", position),)))

    async def _delete_run_events(self, runs: Sequence[str], report: RetentionReport) -> None:
        if not runs:
            return
        query = Select(RUN_EVENTS, where(run_id=one_of(*runs)), ("run_id", "sequence"), limit=BATCH_ROWS)
        while rows := await self._journal.read(query):
            numbers: dict[str, list[int]] = {}
            for row in rows:
                numbers.setdefault(row["run_id"], []).append(row["sequence"])
            deletes: list[Statement] = [
                Delete(RUN_EVENTS, where(run_id=run_id, sequence=one_of(*sequences)), expect=ANY)
                for run_id, sequences in numbers.items()
            ]
            await self._step(report, "run_events", len(rows), deletes)

    async def _remove_expired(self, report: RetentionReport) -> None:
        """Deletes uploads that no message claimed, and artifacts with an expiry."""
        expired = where(expires_at=above(0)) + where(expires_at=at_most(report.started_at))
        query = Select(ARTIFACTS, expired, ("artifact_id",), limit=BATCH_ROWS)
        while rows := await self._journal.read(query):
            conditions = where(artifact_id=one_of(*(row["artifact_id"] for row in rows)))
            await self._step(report, "expired", len(rows), [Delete(ARTIFACTS, conditions + expired, expect=ANY)])

    async def _remove_small_rows(self, report: RetentionReport) -> None:
        """Deletes expired browser sessions and reply allowances, and daily uses of budgets that are no longer shown."""
        oldest = datetime.fromtimestamp(report.started_at / 1000, UTC) - timedelta(days=BUDGET_DAYS)
        for table, old in (
            (LOGINS, where(expires_at=at_most(report.started_at))),
            (REPLY_ALLOWANCES, where(expires_at=at_most(report.started_at))),
            (BUDGET_USES, where(period=below(oldest.date().isoformat()))),
        ):
            rows = await self._journal.read(Select(table, old, limit=1))
            if rows:
                await self._step(report, table.name, 0, [Delete(table, old, expect=ANY)])

    async def _expire_held_replies(self, report: RetentionReport) -> None:
        """Marks held replies as expired whose chat had no further message in time."""
        overdue = where(state="held", expires_at=at_most(report.started_at))
        if await self._journal.read(Select(OUTBOX, overdue, ("seq",), limit=1)):
            values: dict[str, Any] = {"state": "expired", "updated_at": report.started_at}
            await self._step(report, "outbox", 0, [Update(OUTBOX, values, overdue, expect=ANY)])

    async def _is_share_deleted(
        self, name: str, deleted: int, table: Table, key: str, days: float, missing: int
    ) -> bool:
        """Returns whether this job has deleted its share of a table; `missing` rows are already gone from it."""
        share = max(MAX_DELETED_FRACTION, 2 * self._every_days / days) if days else 0
        if deleted < MIN_DELETED_ROWS or share >= 1 or deleted < share * (missing + await self._count(table, key)):
            return False
        logger.info("clean-up deleted its share of %s; the next clean-up continues", name)
        return True

    async def _count(self, table: Table, key: str) -> int:
        count = 0
        position: tuple[Any, ...] = ()
        while rows := await self._journal.read(Select(table, position, (key,), order=(key,), limit=COUNT_BATCH_ROWS)):
            count, position = count + len(rows), where(**{key: above(rows[-1][key])})
        return count

    async def _remove_by_expiry(self, table: Table, until: int, report: RetentionReport) -> None:
        """Deletes rows that expired: names, which would be requested again, memories, and counters of past windows.

        A counter stays for a day, since the clock of another Host may be behind.
        """
        expires = where(expires_at=above(0))
        expired = expires + where(expires_at=at_most(until))
        query = Select(table, expired, ("expires_at",), ("expires_at",), limit=BATCH_ROWS)
        while rows := await self._journal.read(query):
            conditions = expires + where(expires_at=at_most(rows[-1]["expires_at"]))
            await self._step(report, table.name, len(rows), [Delete(table, conditions, expect=ANY)])

    async def _remove_finished_jobs(self, report: RetentionReport) -> None:
        """Deletes jobs that have ended some time ago. Unfinished jobs are never deleted by their age."""
        old = where(state=one_of("done", "failed", "cancelled"), finished_at=at_most(self._cutoff(JOB_DAYS, report)))
        query = Select(JOBS, old, ("job_id",), limit=BATCH_ROWS)
        while rows := await self._journal.read(query):
            conditions = where(job_id=one_of(*(row["job_id"] for row in rows))) + old
            await self._step(report, "jobs", len(rows), [Delete(JOBS, conditions, expect=ANY)])

    async def _remove_unseen(self, report: RetentionReport) -> None:
        """Deletes rows of the directory that no event has named for its period."""
        cutoff = self._cutoff(self._periods.directory, report)
        for table in (DIRECTORY, DIRECTORY_MEMBERS, DIRECTORY_MESSAGES):
            query = Select(table, where(seen_at=below(cutoff)), ("seen_at",), ("seen_at",), limit=BATCH_ROWS)
            while rows := await self._journal.read(query):
                old = where(seen_at=at_most(rows[-1]["seen_at"]))
                await self._step(report, table.name, len(rows), [Delete(table, old, expect=ANY)])

    async def _step(self, report: RetentionReport, name: str, count: int, statements: list[Statement]) -> None:
        started_at = asyncio.get_running_loop().time()
        report.removed[name] += count
        try:
            await self._journal.commit(Unit("retention.step", (*statements, report.upsert())))
        except GuardFailed:
            report.removed[name] -= count
            raise
        elapsed = asyncio.get_running_loop().time() - started_at
        await asyncio.sleep(max(MIN_PAUSE_SECONDS, elapsed * PAUSE_WORK_RATIO))

    def _cutoff(self, days: float, report: RetentionReport) -> int:
        return report.started_at - round(days * DAY_MILLISECONDS) if days else 0

    async def _read_meta(self, name: str) -> str:
        rows = await self._journal.read(Select(META, where(name=name), ("value",), limit=1))
        return str(rows[0]["value"]) if rows else ""


def _meta_upsert(name: str, value: str) -> Insert:
    return Insert(META, {"name": name, "value": value}, conflict=Upsert(("name",), ("value",)))
