"""Answers queries of any size on read-only connections, one per query, opened when needed."""

import asyncio

from parlour.core.journal import Row, StorageFailed
from parlour.stores.address import told
from parlour.stores.sql import Dialect, FullText, Parameters, Plan

from .connection import READING, Connection, close, connect
from .errors import ERRORS, is_lost, storage_failure
from .retry import Patience
from .text_encoding import meant, written

_VECTOR = 'array_to_tsvector(string_to_array("{table}"."{column}", \' \'))'
_SEARCH = FullText(
    source='"{table}"',
    holds=_VECTOR + " @@ {asked}::text::tsquery",
    rank=f"ts_rank({_VECTOR}, {{asked}}::text::tsquery, 1) DESC",
    asked=lambda words: " & ".join("'" + word.replace("\\", "\\\\").replace("'", "''") + "'" for word in words),
)
READS = Dialect(placeholder=lambda position, given: f"${position}", full_text=_SEARCH)
READ_SECONDS = 60.0


class Readers:
    """A pool of reading connections."""

    def __init__(self, url: str, most: int, patience: float) -> None:
        self._url = url
        self._most = most
        self._patience = patience
        self._idle: list[Connection] = []
        self._free = asyncio.Semaphore(most)

    async def read(self, plan: Plan, parameters: Parameters) -> list[Row]:
        """Repeats the query if the connection is lost; it changes nothing."""
        patience = Patience(self._patience)
        async with self._free:
            while True:
                try:
                    connection = await self._connected()
                    return await self._asked(connection, plan, parameters)
                except StorageFailed as failure:
                    if failure.code != "storage_unreachable" or patience.is_over():
                        raise
                await patience.pause()

    async def finish(self) -> None:
        """Waits until all queries are answered. Nothing may be submitted afterwards."""
        for _ in range(self._most):
            await self._free.acquire()
        while self._idle:
            await close(self._idle.pop())

    async def _connected(self) -> Connection:
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        return await connect(self._url, "parlour reader", self._patience, **READING)

    async def _asked(self, connection: Connection, plan: Plan, parameters: Parameters) -> list[Row]:
        try:
            rows = await connection.fetch(plan.text, *map(written, parameters), timeout=READ_SECONDS)
        except ERRORS as error:
            if is_lost(error):
                connection.terminate()
            raise storage_failure(error, told(self._url)) from error
        finally:
            if not connection.is_closed():
                self._idle.append(connection)
        return [dict(zip(plan.columns, map(meant, row), strict=True)) for row in rows]
