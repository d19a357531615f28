"""Executes units, many in one transaction: statements on the event loop, the wait for the disk on a thread.

A statement takes about ten microseconds and needs the interpreter for most of them; on a thread it would wait for the
interpreter after each. A commit waits for the disk and does not need the interpreter. So the loop fills a transaction,
the thread commits it, and units that arrive in between fill the next.

A unit that fails does not affect the others: there are savepoints for that. If the transaction itself is lost (the disk
is full, for example), all of its units fail and the next batch starts over.

From time to time the full-text index is updated. That is long work for SQLite alone, so the thread does it.
"""

import asyncio
import logging
import sqlite3
import threading
from asyncio import Future
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue

from parlour.core.journal import GuardFailed, PreparedCallback, Receipt, Row
from parlour.core.store.tables import TRANSCRIPT
from parlour.stores.futures import resolve
from parlour.stores.sql import CompiledStatement, Parameters, StatementPlan
from parlour_sdk.values import dataclass

from . import fulltext
from .errors import is_busy, is_unique_violation, storage_failure

logger = logging.getLogger(__name__)

MAX_UNITS = 64
"""Maximum number of units per transaction; more would block the event loop for too long."""
BATCH_WAIT_SECONDS = 0.003
"""Seconds that a unit that may wait is delayed, so that another can share its transaction."""

Outcome = Receipt | Exception


@dataclass(slots=True, eq=False)
class SqliteWriteJob:
    """A compiled unit and the future of its caller."""

    name: str
    steps: list[CompiledStatement]
    future: Future[Receipt]
    can_batch: bool = False
    on_prepared: PreparedCallback | None = None


class SqliteWriter:
    """Writes on one connection.

    `afterwards` is called on the thread after each commit, before anything else is written.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        busy_timeout: float,
        loop: asyncio.AbstractEventLoop,
        afterwards: Callable[[sqlite3.Connection], None],
    ) -> None:
        self._connection = connection
        self._cursor = connection.cursor()
        self._path = path
        self._busy_milliseconds = int(busy_timeout * 1000)
        self._loop = loop
        self._after_commit = afterwards
        self._jobs: deque[SqliteWriteJob] = deque()
        self._is_writing = False
        self._batch_timer: asyncio.TimerHandle | None = None
        """Timer, set while all submitted units may wait."""
        self._unindexed_characters = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._thread_tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="journal-writer", daemon=True)
        self.transactions = 0

    def start(self) -> None:
        self._cursor.execute("PRAGMA busy_timeout=0").fetchall()  # the loop must not wait for locks, the thread may
        self._thread.start()

    def submit(self, job: SqliteWriteJob) -> None:
        self._jobs.append(job)
        self._idle.clear()
        if self._is_writing:
            return
        if not job.can_batch:
            self._start_batch()
        elif self._batch_timer is None:
            self._batch_timer = self._loop.call_later(BATCH_WAIT_SECONDS, self._start_batch)

    def _start_batch(self) -> None:
        if self._batch_timer is not None:
            self._batch_timer.cancel()
            self._batch_timer = None
        self._is_writing = True
        self._loop.call_soon(self._write_next)  # so that other units of this loop iteration are included

    async def finish(self) -> None:
        """Waits until all submitted units are done. Nothing may be submitted afterwards."""
        await self._idle.wait()
        self._thread_tasks.put(None)
        await asyncio.to_thread(self._thread.join)
        self._connection.close()

    def _write_next(self) -> None:
        if self._unindexed_characters >= fulltext.BATCH_CHARACTERS:
            self._unindexed_characters = 0
            self._thread_tasks.put(partial(self._write_blocking, [self._index_job()]))
            return
        batch = [self._jobs.popleft() for _ in range(min(MAX_UNITS, len(self._jobs)))]
        if not batch:
            self._is_writing = False
            self._idle.set()
            return
        try:
            self._cursor.execute("BEGIN IMMEDIATE")
            outcomes = self._attempt_all(batch)
        except Exception as error:  # noqa: BLE001 - no unit is left without an outcome
            if is_busy(error):
                self._thread_tasks.put(partial(self._write_blocking, batch))
            else:
                self._loop.call_soon(self._finish_batch, batch, self._fail_batch(batch, error))
            return
        self._thread_tasks.put(partial(self._commit, batch, outcomes))
        _call_on_prepared(batch, outcomes)

    def _index_job(self) -> SqliteWriteJob:
        """Returns a job that updates the full-text index. Nothing waits for it.

        Rows that it fails to index are left to the next update, or to a search, which then reports the error.
        """
        future: Future[Receipt] = self._loop.create_future()
        future.add_done_callback(_log_index_failure)
        return SqliteWriteJob("search.index", [(fulltext.INDEX_PENDING, (), None)], future)

    def _finish_batch(self, batch: list[SqliteWriteJob], outcomes: list[Outcome]) -> None:
        for job, outcome in sorted(zip(batch, outcomes, strict=True), key=_is_batchable):
            resolve(job.future, outcome)
        self._write_next()

    def _run(self) -> None:
        """Runs the thread, which waits for the disk or for another program."""
        while (order := self._thread_tasks.get()) is not None:
            order()

    def _commit(self, batch: list[SqliteWriteJob], outcomes: list[Outcome]) -> None:
        try:
            if self._connection.in_transaction:  # a single unit that failed was rolled back
                self._cursor.execute("COMMIT")
                self.transactions += 1
            self._after_commit(self._connection)
        except Exception as error:  # noqa: BLE001 - no unit is left without an outcome
            outcomes = self._fail_batch(batch, error)
        with suppress(RuntimeError):  # nothing waits on a closed loop
            self._loop.call_soon_threadsafe(self._finish_batch, batch, outcomes)

    def _write_blocking(self, batch: list[SqliteWriteJob]) -> None:
        """Writes on the thread, which may wait for another program's lock."""
        try:
            self._cursor.execute(f"PRAGMA busy_timeout={self._busy_milliseconds}").fetchall()
            self._cursor.execute("BEGIN IMMEDIATE")
            outcomes = self._attempt_all(batch)
        except Exception as error:  # noqa: BLE001 - no unit is left without an outcome
            outcomes = self._fail_batch(batch, error)
        self._cursor.execute("PRAGMA busy_timeout=0").fetchall()  # the loop uses the cursor after the commit
        self._commit(batch, outcomes)

    def _fail_batch(self, batch: list[SqliteWriteJob], error: Exception) -> list[Outcome]:
        """Rolls back and fails all units, also those with failed guards.

        A guard may have failed because of another unit that is now undone.
        """
        if not isinstance(error, sqlite3.Error):
            logger.error("the journal's writer failed at units %s", [job.name for job in batch], exc_info=error)
        self._roll_back()
        return [storage_failure(error, self._path) for _ in batch]

    def _attempt_all(self, batch: list[SqliteWriteJob]) -> list[Outcome]:
        """Tries units without savepoints first, since they seldom fail.

        If one fails, all start over with savepoints.
        """
        outcomes: list[Outcome] = []
        for job in batch:
            outcome = self._attempt(job)
            if isinstance(outcome, Exception):
                self._cursor.execute("ROLLBACK")
                if len(batch) == 1:
                    return [outcome]
                self._cursor.execute("BEGIN IMMEDIATE")
                return [self._attempt_in_savepoint(each) for each in batch]
            outcomes.append(outcome)
        return outcomes

    def _attempt_in_savepoint(self, job: SqliteWriteJob) -> Outcome:
        self._cursor.execute("SAVEPOINT unit")
        outcome = self._attempt(job)
        if isinstance(outcome, Exception):
            self._cursor.execute("ROLLBACK TO unit")
        self._cursor.execute("RELEASE unit")
        return outcome

    def _attempt(self, job: SqliteWriteJob) -> Outcome:
        """Executes a unit. Raises only if SQLite has given up the whole transaction."""
        receipt: list[list[Row]] = []
        try:
            for step in job.steps:
                receipt.append(self._step(step, receipt, job.name))
        except GuardFailed as failure:
            return failure
        except sqlite3.IntegrityError as error:
            if is_unique_violation(error):
                return GuardFailed(job.name, len(receipt))
            return storage_failure(error, self._path)
        except sqlite3.Error as error:
            if not self._connection.in_transaction:
                raise
            return storage_failure(error, self._path)
        except (OverflowError, UnicodeError) as error:  # a number beyond 64 bits, half a surrogate pair
            return storage_failure(error, self._path)
        return receipt

    def _step(self, step: CompiledStatement, receipt: list[list[Row]], name: str) -> list[Row]:
        plan, parameters, expect = step
        if plan.references:
            parameters = self._resolve_references(plan, parameters, receipt, name)
        cursor = self._cursor.execute(plan.text, parameters)
        if plan.reread_sql:
            cursor = self._cursor.execute(plan.reread_sql, parameters[len(parameters) - plan.reread_parameter_count :])
        if plan.columns:
            rows = [dict(zip(plan.columns, row, strict=True)) for row in cursor.fetchall()]
            count = len(rows)
        else:
            rows = []
            count = cursor.rowcount
        if expect is not None and count != expect:
            raise GuardFailed(name, len(receipt))
        if plan.return_number_sql:
            self._cursor.execute(plan.return_number_sql)
        if plan.table is TRANSCRIPT:
            self._unindexed_characters += fulltext.count_characters(parameters)
        return rows

    def _resolve_references(
        self, plan: StatementPlan, parameters: Parameters, receipt: list[list[Row]], name: str
    ) -> Parameters:
        resolved = list(parameters)
        for position in plan.references:
            reference = resolved[position]
            rows = receipt[reference.statement]
            if not rows:  # the statement it refers to affected no row, so this one can't either
                raise GuardFailed(name, len(receipt))
            resolved[position] = rows[0][reference.column]
        return tuple(resolved)

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            try:
                self._cursor.execute("ROLLBACK")
            except sqlite3.Error:
                logger.exception("the journal's transaction could not be rolled back")


def _call_on_prepared(batch: list[SqliteWriteJob], outcomes: list[Outcome]) -> None:
    for job, outcome in zip(batch, outcomes, strict=True):
        if job.on_prepared is not None and not isinstance(outcome, Exception):
            try:
                job.on_prepared(outcome)
            except Exception:
                logger.exception("the prepare callback of unit %s failed", job.name)


def _is_batchable(completed: tuple[SqliteWriteJob, Outcome]) -> bool:
    return completed[0].can_batch


def _log_index_failure(indexed: Future[Receipt]) -> None:
    if (failure := indexed.exception()) is not None:
        logger.warning("updating the full-text index failed; new rows wait: %s", failure)
