"""Implements the journal on PostgreSQL: units go to the writer, queries to readers."""

import asyncio
import contextlib
from collections.abc import Awaitable
from types import TracebackType
from typing import Self

from parlour.core.journal import Receipt, Row, Search, Select, StorageFailed, Unit
from parlour.stores.address import told
from parlour.stores.sql import Compiler

from .batch_encoding import STEPS, Steps
from .point_reader import NearReader, Question
from .readers import READS, Readers
from .writer import Job, Writer

READERS = 4
END_SECONDS = 2.0
"""Seconds to wait on close for a server that does not answer; its pending requests then end as in a crash."""
PATIENCE = 5.0
"""Seconds for which the server may be unreachable, or rows to be written may be locked, before a request fails."""


class PostgresJournal:
    """Use as `async with PostgresJournal(url) as journal`, on a database that `migrate.ensure` has prepared.

    `alone` is for a Host: it keeps another Host from serving the same database.
    """

    def __init__(self, url: str, *, alone: bool = False, patience: float = PATIENCE) -> None:
        self._name = told(url)
        self._compiler = Compiler(STEPS)
        self._steps = Steps()
        self._writer = Writer(url, alone, patience)
        self._near = NearReader(url, patience)
        self._far_compiler = Compiler(READS)
        self._far = Readers(url, READERS, patience)
        self._is_open = False

    async def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._writer.open()
        self._near.start()
        self._is_open = True

    async def close(self) -> None:
        """Finishes pending requests if the server answers in time; refuses new ones."""
        if self._is_open:
            self._is_open = False
            finishing = (self._writer.finish(), self._near.finish(), self._far.finish())
            await asyncio.gather(*map(_in_time, finishing))

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

    async def commit(self, unit: Unit) -> Receipt:
        self._require_open()
        steps = self._compiler.unit(unit)
        numbers, text = self._steps.unit(steps)
        future: asyncio.Future[Receipt] = self._loop.create_future()
        self._writer.submit(Job(unit.name, [plan for plan, _, _ in steps], numbers, text, future))
        return await future

    async def read(self, query: Select) -> list[Row]:
        """Reads rows. Queries by key have their own connection, so that they never wait for lists and searches."""
        self._require_open()
        if not query.few:
            return await self._far.read(*self._far_compiler.select(query))
        plan, parameters = self._compiler.select(query)
        number, text = self._steps.query(plan, parameters)
        future: asyncio.Future[list[Row]] = self._loop.create_future()
        self._near.submit(Question(plan, number, text, future))
        return await future

    async def search(self, query: Search) -> list[Row]:
        self._require_open()
        return await self._far.read(*self._far_compiler.search(query))

    def _require_open(self) -> None:
        if not self._is_open:
            raise StorageFailed("storage_closed", f"The database '{self._name}' is not open: Parlour is stopping.")


async def _in_time(finishing: Awaitable[None]) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(END_SECONDS):
            await finishing
