"""Writes audit entries in batches: with the run's next write if there is one, otherwise within a second.

Entries that can't be written are kept and tried again. If too many are waiting, new calls are refused rather than
left unrecorded.
"""

import asyncio
import logging
from collections.abc import Iterable
from typing import Protocol

from parlour.core.errors import Refused
from parlour.core.journal import Insert, Journal, StorageFailed, Unit

logger = logging.getLogger(__name__)

FLUSH_SECONDS = 1.0
"""Seconds after which waiting entries are written."""
WAITING_ENTRIES = 10_000
"""Number of waiting entries from which calls are refused."""
UNIT_ENTRIES = 500
"""Maximum number of entries per unit, so that a message never waits long behind them."""


class AuditedRun(Protocol):
    """A run that collects audit entries for its next write."""

    run_id: str
    audited: list[Insert]

    def take_audited(self) -> list[Insert]: ...


class AuditLog:
    """Collects audit entries and writes them in the background."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._entries: list[Insert] = []
        self._runs: dict[str, AuditedRun] = {}
        """Runs that may have entries which none of their writes has included yet, by run id."""
        self._timer: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._failing = False
        self._resting = False

    def check_room(self) -> None:
        """Raises CallRejected if too many entries are waiting to be written."""
        if len(self._entries) >= WAITING_ENTRIES:
            raise Refused("runtime_error", "the audit can't be written at the moment; try again", retryable=True)

    def add(self, entries: Iterable[Insert]) -> None:
        self._entries.extend(entries)
        self._wind_up()

    def add_of_run(self, session: AuditedRun, entry: Insert) -> None:
        session.audited.append(entry)
        self._runs[session.run_id] = session
        self._wind_up()

    async def flush(self) -> None:
        """Writes all waiting entries. If the database fails, they are kept for the next attempt."""
        async with self._turn:
            runs, self._runs = self._runs, {}
            for session in runs.values():
                self._entries += session.take_audited()
            try:
                await self._write()
                self._failing = False
            except StorageFailed as failure:
                logger.error("%d audit entries are waiting for the database: %s", len(self._entries), failure.message)
                self._failing = True
                self._wind_up()

    def rest(self) -> None:
        """Stops writing until `close`, so that no other write waits behind these for a database that is gone."""
        self._resting = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def close(self) -> None:
        self.rest()
        if self._flushing is not None:
            await self._flushing
        if not self._failing:
            await self.flush()

    async def _write(self) -> None:
        while self._entries:
            batch = self._entries[:UNIT_ENTRIES]
            await self._journal.commit(Unit("audit.write", tuple(batch)))
            del self._entries[: len(batch)]

    def _wind_up(self) -> None:
        if self._timer is None and not self._resting:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._due)

    def _due(self) -> None:
        self._timer = None
        self._flushing = asyncio.get_running_loop().create_task(self.flush())
