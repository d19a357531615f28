"""Implements the journal on PostgreSQL: units go to the writer, queries to readers."""

import asyncio
import contextlib
from collections.abc import Awaitable
from types import TracebackType
from typing import Self

from parlour.core.cluster.owner_rows import NO_HOST
from parlour.core.journal import PreparedCallback, Receipt, Row, Search, Select, StorageFailed, Unit
from parlour.core.model.ids import HostId
from parlour.stores.address import redact_password
from parlour.stores.sql import Compiler

from .batch_encoding import BATCH_DIALECT, BatchEncoder
from .numbers import PLAIN_SLOT, require_slot
from .point_reader import PendingQuery, PointReader
from .readers import READ_DIALECT, PostgresReaders
from .session import WriterIdentity
from .writer import PostgresWriteJob, PostgresWriter

READER_COUNT = 4
CLOSE_TIMEOUT_SECONDS = 2.0
"""Seconds to wait on close for a server that does not answer; its pending requests then end as in a crash."""
RETRY_SECONDS = 5.0
"""Seconds for which the server may be unreachable, or rows to be written may be locked, before a request fails."""


class PostgresJournal:
    """Use as `async with PostgresJournal(url) as journal`, on a database that `migrate.ensure` has prepared.

    `exclusive` is for a Host: it keeps another Host from serving the same database, except for Hosts that have a
    `host_id` too; those share it as a cluster, and a fenced one fails with `storage_fenced`. Writers with different
    slots don't wait for each other when they number rows; see `numbers`.
    """

    def __init__(
        self,
        url: str,
        *,
        exclusive: bool = False,
        slot: int = PLAIN_SLOT,
        host_id: HostId = NO_HOST,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        self._name = redact_password(url)
        self._compiler = Compiler(BATCH_DIALECT)
        self._encoder = BatchEncoder()
        self._writer = PostgresWriter(url, WriterIdentity(require_slot(slot), exclusive, host_id), retry_seconds)
        self._point_reader = PointReader(url, retry_seconds)
        self._read_compiler = Compiler(READ_DIALECT)
        self._readers = PostgresReaders(url, READER_COUNT, retry_seconds)
        self._is_open = False

    async def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._writer.open()
        self._point_reader.start()
        self._is_open = True

    async def close(self) -> None:
        """Finishes pending requests if the server answers in time; refuses new ones."""
        if self._is_open:
            self._is_open = False
            finishing = (self._writer.finish(), self._point_reader.finish(), self._readers.finish())
            await asyncio.gather(*map(_wait_limited, finishing))

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
        steps = self._compiler.unit(unit)
        numbers, text = self._encoder.encode_unit(steps)
        future: asyncio.Future[Receipt] = self._loop.create_future()
        self._writer.submit(PostgresWriteJob(unit.name, [plan for plan, _, _ in steps], numbers, text, future))
        return await future

    async def read(self, query: Select) -> list[Row]:
        """Reads rows. Queries by key have their own connection, so that they never wait for lists and searches."""
        self._require_open()
        if not query.point_read:
            return await self._readers.read(*self._read_compiler.select(query))
        plan, parameters = self._compiler.select(query)
        number, text = self._encoder.encode_query(plan, parameters)
        future: asyncio.Future[list[Row]] = self._loop.create_future()
        self._point_reader.submit(PendingQuery(plan, number, text, future))
        return await future

    async def search(self, query: Search) -> list[Row]:
        self._require_open()
        return await self._readers.read(*self._read_compiler.search(query))

    def _require_open(self) -> None:
        if not self._is_open:
            raise StorageFailed("storage_closed", f"The database '{self._name}' is not open: Parlour is stopping.")


async def _wait_limited(finishing: Awaitable[None]) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
            await finishing
