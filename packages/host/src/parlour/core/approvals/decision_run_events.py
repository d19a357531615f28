"""The decision in the ledger of the run that asked, whether that goes on here or elsewhere, or has long been over.

A run that goes on counts its events itself; after all others the ledger's last one is counted on.
"""

import asyncio

from parlour.core.journal import Journal, Statement
from parlour.core.runs.session import Sessions
from parlour.core.store import ledger
from parlour.core.store.approvals import Approval
from parlour.core.store.ledger import Ledger

from .decision_events import EVENT_TYPE


class DecidedRunEvents:
    def __init__(self, journal: Journal, sessions: Sessions) -> None:
        self._ledger = Ledger(journal)
        self._sessions = sessions

    def turn(self, closed: Approval) -> asyncio.Lock:
        """Held until what was drafted is written."""
        return self._sessions.counting(closed.run_id)

    async def draft(self, closed: Approval, now: int) -> list[Statement]:
        """Nothing where no run asked, or the run was taken away: what is said of it then would stay for ever."""
        if not closed.run_id or await self._ledger.run(closed.run_id) is None:
            return []
        told = {
            "approval_id": closed.approval_id,
            "action": closed.action,
            "status": closed.status,
            "decided_by": closed.decided_by or None,
            "reason": closed.reason or None,
        }
        number = await self._next_sequence(closed.run_id)
        event = ledger.append(closed.run_id, number, EVENT_TYPE, told, now, source="host")
        return [ledger.kept(closed.run_id), event]

    async def _next_sequence(self, run_id: str) -> int:
        session = self._sessions.get(run_id)
        return session.next_sequence() if session is not None else await self._ledger.last_sequence(run_id) + 1
