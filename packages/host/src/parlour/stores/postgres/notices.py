"""Receives notices of changed versions from PostgreSQL.

A trigger on `versions` sends them with the transaction that changes a version, so a batch sends one.
"""

import asyncio
import logging
from typing import Any

from parlour.core.journal import StorageFailed

from .connection import PostgresConnection, close, connect
from .errors import ERRORS

logger = logging.getLogger(__name__)

CHANNEL = "parlour_versions"
APPLICATION = "parlour-notices"
LOCK_SECONDS = 5.0
RECONNECT_SECONDS = 5.0
"""Seconds after a failed connection before the next attempt."""


class PostgresChangeNotices:
    """Listens on a connection of its own, which is opened again when it is lost."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._received = asyncio.Event()
        self._connection: PostgresConnection | None = None

    async def wait(self) -> None:
        """Returns after the next notice, or after a new connection, since notices before it were missed."""
        if self._connection is None or self._connection.is_closed():
            await self._listen()
            return
        await self._received.wait()
        self._received.clear()

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await close(connection)

    async def _listen(self) -> None:
        try:
            connection = await connect(self._url, APPLICATION, LOCK_SECONDS)
            await connection.add_listener(CHANNEL, self._on_notice)
            connection.add_termination_listener(self._on_notice)
            self._connection = connection
        except (StorageFailed, *ERRORS) as error:
            logger.warning("changes of other Hosts are found later, since notices can't be received: %s", error)
            await asyncio.sleep(RECONNECT_SECONDS)

    def _on_notice(self, *_: Any) -> None:
        self._received.set()
