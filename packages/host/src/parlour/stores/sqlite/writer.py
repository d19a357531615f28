"""Carries out units, many in one transaction. Knows no event loop: it hands outcomes to whoever it was given.

Every unit has a savepoint, so a unit that fails takes nothing of its neighbours with it. When the transaction itself
is lost (no room, say), all of its units fail and the next batch tries anew.
"""

import logging
import sqlite3
import threading
from asyncio import Future
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue

from parlour.core.journal import GuardFailed, Receipt, Row
from parlour.stores.sql import Parameters, Plan

from .failures import is_unique_violation, storage_failure

logger = logging.getLogger(__name__)

MOST_UNITS = 256

Step = tuple[Plan, Parameters, int | None]
Outcome = Receipt | Exception


@dataclass(slots=True, eq=False)
class Job:
    """A unit, compiled, and who waits for it."""

    name: str
    steps: list[Step]
    future: Future[Receipt]


class Writer:
    """One thread with one connection. `afterwards` is called on it when the outcomes of a batch are on their way."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        deliver: Callable[[list[Job], list[Outcome]], None],
        afterwards: Callable[[sqlite3.Connection], None],
    ) -> None:
        self._connection = connection
        self._cursor = connection.cursor()
        self._path = path
        self._deliver = deliver
        self._afterwards = afterwards
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="journal-writer", daemon=True)
        self.transactions = 0

    def start(self) -> None:
        self._thread.start()

    def submit(self, job: Job) -> None:
        self._queue.put(job)

    def finish(self) -> None:
        """Waits until all that was submitted is done. Nothing may be submitted after."""
        self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        while batch := self._next_batch():
            self._deliver(batch, self._outcomes(batch))
            self._afterwards(self._connection)

    def _next_batch(self) -> list[Job]:
        """Waits for a job and takes along what else is there. Empty at the end."""
        batch: list[Job] = []
        job = self._queue.get()
        while job is not None:
            batch.append(job)
            if len(batch) == MOST_UNITS:
                return batch
            try:
                job = self._queue.get_nowait()
            except Empty:
                return batch
        if batch:
            self._queue.put(None)  # these first; the end is found again
        return batch

    def _outcomes(self, batch: list[Job]) -> list[Outcome]:
        try:
            outcomes = self._transaction(batch)
            self.transactions += 1
            return outcomes
        except sqlite3.Error as error:
            lost: Exception = error
        except Exception as error:
            logger.exception("the journal's writer failed at units %s", [job.name for job in batch])
            lost = error
        self._roll_back()
        # A guard that failed may have failed because of a neighbour that is now undone: so all of them fail alike.
        return [storage_failure(lost, self._path) for _ in batch]

    def _transaction(self, batch: list[Job]) -> list[Outcome]:
        self._cursor.execute("BEGIN IMMEDIATE")
        if len(batch) == 1:
            outcome = self._attempt(batch[0])
            self._cursor.execute("ROLLBACK" if isinstance(outcome, Exception) else "COMMIT")
            return [outcome]
        outcomes = [self._attempt_beside_others(job) for job in batch]
        self._cursor.execute("COMMIT")
        return outcomes

    def _attempt_beside_others(self, job: Job) -> Outcome:
        self._cursor.execute("SAVEPOINT unit")
        outcome = self._attempt(job)
        if isinstance(outcome, Exception):
            self._cursor.execute("ROLLBACK TO unit")
        self._cursor.execute("RELEASE unit")
        return outcome

    def _attempt(self, job: Job) -> Outcome:
        """Raises only when SQLite has given up the whole transaction."""
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

    def _step(self, step: Step, receipt: list[list[Row]], name: str) -> list[Row]:
        plan, parameters, expect = step
        if plan.references:
            parameters = self._resolved(plan, parameters, receipt, name)
        cursor = self._cursor.execute(plan.text, parameters)
        if plan.columns:
            rows = [dict(zip(plan.columns, row, strict=True)) for row in cursor.fetchall()]
            count = len(rows)
        else:
            rows = []
            count = cursor.rowcount
        if expect is not None and count != expect:
            raise GuardFailed(name, len(receipt))
        if plan.give_back:
            self._cursor.execute(plan.give_back)
        return rows

    def _resolved(self, plan: Plan, parameters: Parameters, receipt: list[list[Row]], name: str) -> Parameters:
        resolved = list(parameters)
        for position in plan.references:
            reference = resolved[position]
            rows = receipt[reference.statement]
            if not rows:  # what it refers to touched nothing, so neither can this
                raise GuardFailed(name, len(receipt))
            resolved[position] = rows[0][reference.column]
        return tuple(resolved)

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            try:
                self._cursor.execute("ROLLBACK")
            except sqlite3.Error:
                logger.exception("the journal's transaction could not be rolled back")
