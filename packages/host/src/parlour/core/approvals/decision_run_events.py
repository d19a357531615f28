"""Records a decision in the ledger of the run that requested it, whether the run is active here, elsewhere, or ended.

An active run assigns the sequence numbers of its events; for any other run the number follows the last one in the
ledger.
"""

import asyncio

from parlour.core.journal import Journal, Statement
from parlour.core.runs.session import RunSessions
from parlour.core.store import ledger
from parlour.core.store.approvals import Approval
from parlour.core.store.ledger import Ledger

from .decision_events import EVENT_TYPE


class DecisionRunEvents:
    """Builds the ledger statements for a decision."""

    def __init__(self, journal: Journal, sessions: RunSessions) -> None:
        self._ledger = Ledger(journal)
        self._sessions = sessions

    def sequence_lock(self, closed: Approval) -> asyncio.Lock:
        """Returns the lock to hold until the drafted statements are written."""
        return self._sessions.sequence_lock(closed.run_id)

    async def build_statements(self, closed: Approval, now: int) -> list[Statement]:
        """Returns no statements if no run requested it, or the run was deleted: a ledger entry without a run would
        never be deleted.
        """
        if not closed.run_id or await self._ledger.get_run(closed.run_id) is None:
            return []
        told = {
            "approval_id": closed.approval_id,
            "action": closed.action,
            "status": closed.status,
            "decided_by": closed.decided_by or None,
            "reason": closed.reason or None,
        }
        number = await self._next_sequence(closed.run_id)
        event = ledger.append_event(closed.run_id, number, EVENT_TYPE, told, now, source="host")
        return [ledger.require_run_exists(closed.run_id), event]

    async def _next_sequence(self, run_id: str) -> int:
        session = self._sessions.get(run_id)
        return session.next_sequence() if session is not None else await self._ledger.last_sequence(run_id) + 1
