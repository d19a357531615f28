"""The registry of active runs, by id and by lane."""

import asyncio
from collections.abc import Callable
from weakref import WeakValueDictionary

from parlour.core.journal import Insert
from parlour.core.model.ids import ConversationId, RunId

from .session import RunSession


class RunSessions:
    """The active runs, by id and by lane. A lane has at most one."""

    def __init__(self, write_leftover_audit_rows: Callable[[list[Insert]], None]) -> None:
        self._write_leftover_audit_rows = write_leftover_audit_rows
        """Receives the audit rows that were not written with the run's last unit."""
        self._by_run: dict[RunId, RunSession] = {}
        self._by_lane: dict[ConversationId, RunSession] = {}
        self._sequence_locks: WeakValueDictionary[RunId, asyncio.Lock] = WeakValueDictionary()

    def sequence_lock(self, run_id: RunId) -> asyncio.Lock:
        """Returns the lock for assigning sequence numbers from the ledger, until they are written or a session
        continues from there. Two concurrent callers would otherwise assign the same number.
        """
        return self._sequence_locks.setdefault(run_id, asyncio.Lock())

    def register_pending(self, session: RunSession) -> None:
        """Registers a session whose ledger row is being written, so that a reader of that row finds a run that can be
        cancelled.
        """
        self._by_run[session.run_id] = session

    def register(self, session: RunSession) -> None:
        """Registers the session as the active run of its lane."""
        self._by_run[session.run_id] = session
        self._by_lane[session.entry.lane] = session

    def unregister(self, session: RunSession) -> None:
        """Removes the session, aborts its uploads, and marks it as ended."""
        self._by_run.pop(session.run_id, None)
        if self._by_lane.get(session.entry.lane) is session:
            del self._by_lane[session.entry.lane]
        while session.uploads:
            session.uploads.popitem()[1].abort()
        if session.audit_rows:
            self._write_leftover_audit_rows(session.drain_audit_rows())
        session.ended.set()

    def get(self, run_id: RunId) -> RunSession | None:
        return self._by_run.get(run_id)

    def in_lane(self, lane: ConversationId) -> RunSession | None:
        return self._by_lane.get(lane)

    def all(self) -> list[RunSession]:
        return list(self._by_run.values())
