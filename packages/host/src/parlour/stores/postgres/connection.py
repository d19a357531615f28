"""Opens connections to PostgreSQL. Their use is up to the callers."""

from collections.abc import Sequence
from typing import Any, Final, Protocol

import asyncpg  # type: ignore[import-untyped]

from parlour.core.journal import StorageFailed
from parlour.stores.address import redact_password

from .errors import ERRORS, storage_failure

MIN_SERVER_VERSION = 14
CONNECT_SECONDS = 5.0
CLOSE_SECONDS = 1.0

SETTINGS = {
    "default_transaction_isolation": "read committed",
    "jit": "off",  # no statement here runs long enough to be worth compiling
    "enable_seqscan": "off",  # statements use keys; a plan made for a small table must not remain a scan
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}


class PostgresConnection(Protocol):
    """The part of asyncpg's connection that is used."""

    async def fetch(self, query: str, *parameters: Any, timeout: float | None = None) -> Sequence[Sequence[Any]]: ...

    async def fetchrow(self, query: str, *parameters: Any, timeout: float | None = None) -> Any: ...

    async def fetchval(self, query: str, *parameters: Any, timeout: float | None = None) -> Any: ...

    async def execute(self, query: str, *parameters: Any, timeout: float | None = None) -> str: ...

    async def close(self, *, timeout: float | None = None) -> None: ...

    async def add_listener(self, channel: str, callback: Any) -> None: ...

    def add_termination_listener(self, callback: Any) -> None: ...

    def transaction(self) -> Any: ...

    def terminate(self) -> None: ...

    def is_closed(self) -> bool: ...

    def get_server_pid(self) -> int: ...


READ_SETTINGS: Final = {"default_transaction_read_only": "on", "enable_sort": "off"}
"""Settings of reading connections. Lists are sorted by an index. Without statistics of a table, or with those of an
average conversation, the server would read the whole of a long one and sort it; this stops that, but what must be
sorted still is."""


async def connect(url: str, application: str, patience: float, **settings: str) -> PostgresConnection:
    """Opens a connection that waits `patience` seconds for locks.

    Raises StorageFailed, also for an unsuitable server.
    """
    try:
        connection = await asyncpg.connect(
            url,
            timeout=CONNECT_SECONDS,
            statement_cache_size=1000,
            max_cached_statement_lifetime=0,
            server_settings={
                **SETTINGS,
                **settings,
                "application_name": application,
                "lock_timeout": f"{max(1, int(1000 * patience))}ms",
            },
        )
    except ERRORS as error:
        raise storage_failure(error, redact_password(url)) from error
    try:
        _require_usable(connection, redact_password(url))
    except StorageFailed:
        connection.terminate()
        raise
    typed: PostgresConnection = connection
    return typed


async def close(connection: PostgresConnection) -> None:
    """Closes the connection in bounded time, whatever its state."""
    try:
        await connection.close(timeout=CLOSE_SECONDS)
    except ERRORS:
        connection.terminate()


def _require_usable(connection: Any, name: str) -> None:
    version = connection.get_server_version()
    if version.major < MIN_SERVER_VERSION:
        raise StorageFailed(
            "storage_failed",
            f"'{name}' is PostgreSQL {version.major}, and Parlour needs {MIN_SERVER_VERSION} or newer: "
            "upgrade the server.",
        )
    encoding = connection.get_settings().server_encoding
    if encoding != "UTF8":
        raise StorageFailed(
            "storage_failed",
            f"The database of '{name}' is encoded in {encoding}, and Parlour needs UTF8: "
            "create it with createdb --encoding=UTF8 --template=template0.",
        )
