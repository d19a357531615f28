"""Finds work that another Host has committed for parts of this one, such as an event that it accepted.

Work is usually begun by the Host that owns its part. What is found in the database twice in a row, and not in memory,
was committed by another one.
"""

from collections.abc import Sequence
from itertools import count

from parlour.core.cluster.leased_ownership import LeasedOwnership
from parlour.core.journal import Journal, Select, one_of, where
from parlour.core.model.ids import ConversationId, OutboxId, PartId
from parlour.core.store.outbox_rows import OutboxStore
from parlour.core.store.tables import INBOX, OUTBOX

from ..core import Core

MAX_ROWS = 500
STEPS_PER_JOB_CHECK = 4
"""Steps between two looks for jobs, which are background work."""


class UnnoticedWork:
    """Compares the pending rows of owned parts with the queues in memory."""

    def __init__(self, journal: Journal, core: Core, ownership: LeasedOwnership) -> None:
        self._journal = journal
        self._outbox_rows = OutboxStore(journal)
        self._core = core
        self._ownership = ownership
        self._missing_events: dict[int, ConversationId] = {}
        self._missing_rows: set[OutboxId] = set()
        self._steps = count(1)

    async def step(self) -> None:
        """Queues what is missing. Raises StorageFailed."""
        parts = [each for each in self._ownership.parts if self._ownership.owns(each)]
        if parts:
            await self._queue_events(parts)
            await self._queue_sends(parts)
            if next(self._steps) % STEPS_PER_JOB_CHECK == 0:
                await self._core.jobs.recover(parts)

    async def _queue_events(self, parts: Sequence[PartId]) -> None:
        lanes = self._core.lanes
        waiting = where(part=one_of(*parts), state="owed")
        query = Select(INBOX, waiting, ("event_seq", "lane"), order=("event_seq",), limit=MAX_ROWS)
        missing = {
            row["event_seq"]: row["lane"]
            for row in await self._journal.read(query)
            if not lanes.waits(row["lane"], row["event_seq"])
        }
        for lane in {lane for seq, lane in missing.items() if seq in self._missing_events}:
            await lanes.refresh(lane)
        self._missing_events = missing

    async def _queue_sends(self, parts: Sequence[PartId]) -> None:
        pending = where(part=one_of(*parts), state="pending")
        query = Select(OUTBOX, pending, ("outbox_id", "target"), order=("seq",), limit=MAX_ROWS)
        outbox = self._core.outbox
        missing = {
            row["outbox_id"]
            for row in await self._journal.read(query)
            if not outbox.is_queued(row["target"], row["outbox_id"])
        }
        for outbox_id in sorted(missing & self._missing_rows):
            row = await self._outbox_rows.get(outbox_id)
            if row is not None and row.state == "pending" and outbox.handles(row.surface):
                outbox.enqueue(row)
        self._missing_rows = missing
