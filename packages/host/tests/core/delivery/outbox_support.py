"""An outbox with a fake platform surface, and rows for it."""

from typing import Any

from parlour.core.cluster.ownership import Ownership, SoleOwner
from parlour.core.delivery.outbox import Outbox
from parlour.core.delivery.reply_policy import ReplyPolicy
from parlour.core.delivery.row_states import RowStates
from parlour.core.delivery.sender import Sender
from parlour.core.journal import Row, Select, Unit, UnitBuilder, where
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.store import outbox_rows
from parlour.core.store.tables import OUTBOX
from parlour.testing.memory_send_log import MemorySendLog

from ..support import EPOCH, BreakableJournal, LoopClock, PlatformSurface, until

HOUR = 3_600_000


class NoListeners:
    def add_events(self, draft: UnitBuilder, row: OutboxRow) -> None:
        """Adds nothing."""

    def after_commit(self, row: OutboxRow) -> None:
        """Does nothing."""


class NoNotices:
    async def add_notices(self, draft: UnitBuilder, row: OutboxRow, code: str) -> list[OutboxRow]:
        return []

    def after_commit(self, notice: OutboxRow) -> None:
        """Does nothing."""


class Post:
    """An outbox on a journal that can fail, with the surface it sends to."""

    def __init__(
        self,
        journal: BreakableJournal | None = None,
        surface: PlatformSurface | None = None,
        ownership: Ownership | None = None,
    ) -> None:
        self.journal = journal or BreakableJournal()
        self.surface = surface or PlatformSurface()
        self.send_log = MemorySendLog()
        ownership = ownership or SoleOwner()
        states = RowStates(self.journal, ownership, NoListeners(), NoNotices(), self.send_log, LoopClock())
        replies = ReplyPolicy(self.journal, LoopClock())
        sender = Sender({"platform": self.surface}, ownership, states, replies, self.send_log, LoopClock())
        self.outbox = Outbox(self.journal, sender, ownership, LoopClock())

    async def write(self, name: str, target: str = "chat", **fields: Any) -> OutboxRow:
        """Commits a row without enqueueing it, as after a crash."""
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
