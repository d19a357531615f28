"""Implements the journal on SQLite: units go to the writer; reads by key run here, other reads on threads."""

import asyncio
import sqlite3
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from parlour.core.journal import PreparedCallback, Receipt, Row, Search, Select, StorageFailed, Unit
from parlour.core.store.tables import TRANSCRIPT
from parlour.stores.futures import resolve
from parlour.stores.sql import SQLITE, Compiler

from . import fulltext
from .checkpoints import CHECKPOINT_LOG_BYTES, Checkpointer, WriteAheadLog
from .connection import connect
from .errors import storage_failure
from .readers import ReadResult, SqliteQuery, SqliteReaders, read
from .writer import SqliteWriteJob, SqliteWriter

READER_COUNT = 2
PRAGMAS = (
    "foreign_keys=OFF",
    "journal_mode=WAL",
    "synchronous=FULL",
    "wal_autocheckpoint=0",  # checkpoints.py does it
    f"journal_size_limit={4 * CHECKPOINT_LOG_BYTES}",  # after a reader has kept the log from restarting for long
)


class SqliteJournal:
    """Use as `async with SqliteJournal(path) as journal`, on a database that `migrate.ensure` has prepared."""

    def __init__(self, path: Path, *, busy_timeout: float = 5.0) -> None:
        self._path = path
        self._busy_timeout = busy_timeout
        self._compiler = Compiler(SQLITE)
        self._is_open = False

    async def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._connect)
        for part in (self._checkpoints, self._writer, self._readers):
            part.start()
        self._is_open = True

    async def close(self) -> None:
        """Finishes pending requests; refuses new ones."""
        if self._is_open:
            self._is_open = False
            await self._writer.finish()
            await asyncio.to_thread(self._finish)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def transactions(self) -> int:
        """Number of committed transactions; fewer than units under load, since units share them."""
        return self._writer.transactions

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        self._require_open()
        future: asyncio.Future[Receipt] = self._loop.create_future()
        self._writer.submit(SqliteWriteJob(unit.name, self._compiler.unit(unit), future, unit.can_batch, on_prepared))
        return await future

    async def read(self, query: Select) -> list[Row]:
        self._require_open()
        plan, parameters = self._compiler.select(query)
        if query.point_read:
            answer = read(self._point_connection, plan, parameters, self._path)
            if not isinstance(answer, Exception):
                return answer  # otherwise a reader thread tries again and may wait
        future: asyncio.Future[list[Row]] = self._loop.create_future()
        self._readers.submit(SqliteQuery(plan, parameters, future))
        return await future

    async def search(self, query: Search) -> list[Row]:
        self._require_open()
        if (
            query.table is TRANSCRIPT and read(self._point_connection, fulltext.PENDING_EXISTS, (), self._path) != []
        ):  # rows are waiting, or the check failed
            taken_in: asyncio.Future[Receipt] = self._loop.create_future()
            self._writer.submit(SqliteWriteJob("search.index", [(fulltext.INDEX_PENDING, (), None)], taken_in))
            await taken_in
        future: asyncio.Future[list[Row]] = self._loop.create_future()
        self._readers.submit(SqliteQuery(*self._compiler.search(query), future))
        return await future

    def _connect(self) -> None:
        connections: list[sqlite3.Connection] = []
        try:
            connections += (connect(self._path, "rw", self._busy_timeout) for _ in range(2))
            writer, checkpoints = connections
            for pragma in PRAGMAS:
                writer.execute(f"PRAGMA {pragma}").fetchall()
            writer.execute("BEGIN IMMEDIATE")  # to find out now, not at the first message, that it can't be written
            writer.execute("ROLLBACK")
            connections += (connect(self._path, "ro", self._busy_timeout) for _ in range(READER_COUNT))
            connections.append(connect(self._path, "ro", busy_timeout=0))
            for reader in connections[2:]:
                reader.execute("PRAGMA query_only=ON")
            [(page_size,)] = writer.execute("PRAGMA page_size")
            self._checkpoints = Checkpointer(checkpoints, WriteAheadLog(f"{self._path}-wal", page_size))
        except (sqlite3.Error, OSError) as error:
            for connection in connections:
                connection.close()
            raise storage_failure(error, self._path) from error
        self._writer = SqliteWriter(
            writer, self._path, self._busy_timeout, self._loop, self._checkpoints.after_transaction
        )
        *readers, self._point_connection = connections[2:]
        self._readers = SqliteReaders(readers, self._path, self._resolve)

    def _finish(self) -> None:
        self._readers.finish()
        self._point_connection.close()
        self._checkpoints.finish()

    def _require_open(self) -> None:
        if not self._is_open:
            raise StorageFailed("storage_closed", f"The database '{self._path}' is not open: Parlour is stopping.")

    def _resolve(self, question: SqliteQuery, answer: ReadResult) -> None:
        with suppress(RuntimeError):  # nothing waits on a closed loop
            self._loop.call_soon_threadsafe(resolve, question.future, answer)
