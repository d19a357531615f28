"""An outbox with two platforms, and rows to put into it."""

from typing import Any

from parlour.core.delivery.outbox import Outbox
from parlour.core.delivery.row_states import RowStates
from parlour.core.delivery.sender import Sender
from parlour.core.journal import Row, Select, Unit, UnitBuilder, where
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.store import outbox_rows
from parlour.core.store.tables import OUTBOX
from parlour.testing.memory_handovers import MemoryHandovers

from ..support import EPOCH, BreakableJournal, LoopClock, PlatformSurface, until

HOUR = 3_600_000


class NobodyListens:
    def add_events(self, draft: UnitBuilder, row: OutboxRow) -> None:
        """There is nothing to add."""

    def after_commit(self, row: OutboxRow) -> None:
        """There is nobody to tell."""


class NobodyWaits:
    async def add_notices(self, draft: UnitBuilder, row: OutboxRow, code: str) -> list[OutboxRow]:
        return []

    def after_commit(self, notice: OutboxRow) -> None:
        """There is none."""


class Post:
    def __init__(self, journal: BreakableJournal | None = None, surface: PlatformSurface | None = None) -> None:
        self.journal = journal or BreakableJournal()
        self.surface = surface or PlatformSurface()
        self.handovers = MemoryHandovers()
        states = RowStates(self.journal, NobodyListens(), NobodyWaits(), self.handovers, LoopClock())
        sender = Sender({"platform": self.surface}, states, self.handovers, LoopClock())
        self.outbox = Outbox(self.journal, sender, LoopClock())

    async def write(self, name: str, target: str = "chat", **fields: Any) -> OutboxRow:
        """Committed and not yet offered, as after a crash."""
        values: dict[str, Any] = {
            "surface": "platform",
            "conversation_id": target,
            "bot_id": "bot",
            "run_id": "run",
            "kind": "message",
            "state": "pending",
            "message": {"role": "assistant", "content": name},
            "address": {"chat": target, "thread_id": ""},
            "feed_seq": 1,
            "created_at": EPOCH,
            "expires_at": EPOCH + HOUR,
        }
        row = OutboxRow(outbox_id=name, target=target, **{**values, **fields})
        await self.journal.commit(Unit("test.put", (outbox_rows.insert(row),)))
        return row

    async def post(self, name: str, target: str = "chat", **fields: Any) -> None:
        state = self.outbox.try_reserve(target)
        self.outbox.enqueue(await self.write(name, target, state=state, **fields))

    def row(self, name: str) -> Row:
        [row] = self.journal.database.read(Select(OUTBOX, where(outbox_id=name)))
        return row

    def state(self, name: str) -> tuple[str, str]:
        row = self.row(name)
        return row["state"], row["reason"]

    async def done(self) -> None:
        await until(lambda: not self.outbox._drains)
