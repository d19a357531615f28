"""Answers queries on read-only connections, each with its own thread, apart from the writer."""

import logging
import sqlite3
import threading
from asyncio import Future
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue

from parlour.core.journal import Row
from parlour.stores.sql import Parameters, StatementPlan
from parlour_sdk.values import dataclass

from .errors import storage_failure

logger = logging.getLogger(__name__)

ReadResult = list[Row] | Exception


@dataclass(slots=True, eq=False)
class SqliteQuery:
    """A compiled query and the future of its caller."""

    plan: StatementPlan
    parameters: Parameters
    future: Future[list[Row]]


class SqliteReaders:
    """Threads that answer queries."""

    def __init__(
        self, connections: Sequence[sqlite3.Connection], path: Path, deliver: Callable[[SqliteQuery, ReadResult], None]
    ) -> None:
        self._connections = connections
        self._path = path
        self._deliver = deliver
        self._queue: SimpleQueue[SqliteQuery | None] = SimpleQueue()
        self._threads = [
            threading.Thread(target=self._run, args=(connection,), name=f"journal-reader-{number}", daemon=True)
            for number, connection in enumerate(connections, start=1)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def submit(self, question: SqliteQuery) -> None:
        self._queue.put(question)

    def finish(self) -> None:
        """Waits until all queries are answered. Nothing may be submitted afterwards."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()
        for connection in self._connections:
            connection.close()

    def _run(self, connection: sqlite3.Connection) -> None:
        while (question := self._queue.get()) is not None:
            self._deliver(question, read(connection, question.plan, question.parameters, self._path))


def read(connection: sqlite3.Connection, plan: StatementPlan, parameters: Parameters, path: Path) -> ReadResult:
    try:
        rows = connection.execute(plan.text, parameters).fetchall()
        return [dict(zip(plan.columns, row, strict=True)) for row in rows]
    except (sqlite3.Error, OverflowError, UnicodeError) as error:
        return storage_failure(error, path)
    except Exception as error:
        logger.exception("the journal's reader failed at %s", plan.text)
        return storage_failure(error, path)
