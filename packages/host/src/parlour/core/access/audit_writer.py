"""Writes audit entries in batches: with the run's next write if there is one, otherwise within a second.

Entries that can't be written are kept and tried again. If too many are waiting, new calls are refused rather than
left unrecorded.
"""

import asyncio
import logging
from collections.abc import Iterable
from typing import Protocol

from parlour.core.errors import CallRejected
from parlour.core.journal import Insert, Journal, StorageFailed, Unit
from parlour.core.model.ids import RunId

logger = logging.getLogger(__name__)

FLUSH_SECONDS = 1.0
"""Seconds after which waiting entries are written."""
MAX_WAITING_ENTRIES = 10_000
"""Number of waiting entries from which calls are refused."""
MAX_ENTRIES_PER_UNIT = 500
"""Maximum number of entries per unit, so that a message never waits long behind them."""


class AuditedRun(Protocol):
    """A run that collects audit entries for its next write."""

    audit_rows: list[Insert]

    @property
    def run_id(self) -> RunId: ...

    def drain_audit_rows(self) -> list[Insert]: ...


class AuditWriter:
    """Collects audit entries and writes them in the background."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._entries: list[Insert] = []
        self._runs: dict[RunId, AuditedRun] = {}
        """Runs that may have entries which none of their writes has included yet, by run id."""
        self._timer: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None
        self._write_lock = asyncio.Lock()
        self._has_failed = False
        self._paused = False

    def check_capacity(self) -> None:
        """Raises CallRejected if too many entries are waiting to be written."""
        if len(self._entries) >= MAX_WAITING_ENTRIES:
            raise CallRejected("runtime_error", "the audit can't be written at the moment; try again", retryable=True)

    def add(self, entries: Iterable[Insert]) -> None:
        self._entries.extend(entries)
        self._start_timer()

    def add_for_run(self, session: AuditedRun, entry: Insert) -> None:
        session.audit_rows.append(entry)
        self._runs[session.run_id] = session
        self._start_timer()

    async def flush(self) -> None:
        """Writes all waiting entries. If the database fails, they are kept for the next attempt."""
        async with self._write_lock:
            runs, self._runs = self._runs, {}
            for session in runs.values():
                self._entries += session.drain_audit_rows()
            try:
                await self._write()
                self._has_failed = False
            except StorageFailed as failure:
                logger.error("%d audit entries are waiting for the database: %s", len(self._entries), failure.message)
                self._has_failed = True
                self._start_timer()

    def pause(self) -> None:
        """Stops writing until `close`, so that no other write waits behind these for a database that is gone."""
        self._paused = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def close(self) -> None:
        self.pause()
        if self._flushing is not None:
            await self._flushing
        if not self._has_failed:
            await self.flush()

    async def _write(self) -> None:
        while self._entries:
            batch = self._entries[:MAX_ENTRIES_PER_UNIT]
            await self._journal.commit(Unit("audit.write", tuple(batch)))
            del self._entries[: len(batch)]

    def _start_timer(self) -> None:
        if self._timer is None and not self._paused:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._flushing = asyncio.get_running_loop().create_task(self.flush())
