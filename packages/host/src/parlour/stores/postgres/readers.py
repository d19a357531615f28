"""Answers queries of any size on read-only connections, one per query, opened when needed."""

import asyncio

from parlour.core.journal import Row, StorageFailed
from parlour.stores.address import redact_password
from parlour.stores.sql import FullText, Parameters, SqlDialect, StatementPlan

from .connection import READ_SETTINGS, PostgresConnection, close, connect
from .errors import ERRORS, is_connection_lost, storage_failure
from .retry import RetryWindow
from .text_encoding import decode_text, encode_text

_VECTOR = 'array_to_tsvector(string_to_array("{table}"."{column}", \' \'))'
_SEARCH = FullText(
    source='"{table}"',
    condition=_VECTOR + " @@ {asked}::text::tsquery",
    rank=f"ts_rank({_VECTOR}, {{asked}}::text::tsquery, 1) DESC",
    format_words=lambda words: " & ".join("'" + word.replace("\\", "\\\\").replace("'", "''") + "'" for word in words),
)
READ_DIALECT = SqlDialect(placeholder=lambda position, given: f"${position}", full_text=_SEARCH)
READ_SECONDS = 60.0


class PostgresReaders:
    """A pool of reading connections."""

    def __init__(self, url: str, max_connections: int, retry_seconds: float) -> None:
        self._url = url
        self._max_connections = max_connections
        self._retry_seconds = retry_seconds
        self._idle: list[PostgresConnection] = []
        self._free = asyncio.Semaphore(max_connections)

    async def read(self, plan: StatementPlan, parameters: Parameters) -> list[Row]:
        """Repeats the query if the connection is lost; it changes nothing."""
        window = RetryWindow(self._retry_seconds)
        async with self._free:
            while True:
                try:
                    connection = await self._take_connection()
                    return await self._fetch(connection, plan, parameters)
                except StorageFailed as failure:
                    if failure.code != "storage_unreachable" or window.is_expired():
                        raise
                await window.pause()

    async def finish(self) -> None:
        """Waits until all queries are answered. Nothing may be submitted afterwards."""
        for _ in range(self._max_connections):
            await self._free.acquire()
        while self._idle:
            await close(self._idle.pop())

    async def _take_connection(self) -> PostgresConnection:
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        return await connect(self._url, "parlour reader", self._retry_seconds, **READ_SETTINGS)

    async def _fetch(self, connection: PostgresConnection, plan: StatementPlan, parameters: Parameters) -> list[Row]:
        try:
            rows = await connection.fetch(plan.text, *map(encode_text, parameters), timeout=READ_SECONDS)
        except ERRORS as error:
            if is_connection_lost(error):
                connection.terminate()
            raise storage_failure(error, redact_password(self._url)) from error
        finally:
            if not connection.is_closed():
                self._idle.append(connection)
        return [dict(zip(plan.columns, map(decode_text, row), strict=True)) for row in rows]
