"""Stores the reply allowance of an incoming event, and releases the replies that were held for it."""

from dataclasses import replace

from parlour.core.journal import Journal, Statement
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ids import BotId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import Clock
from parlour.core.model.reply_allowance import REPLY_ALLOWANCE, ReplyAllowance, ReplyUse
from parlour.core.store import outbox_rows, reply_allowances
from parlour.core.store.outbox_rows import OutboxStore
from parlour.core.store.reply_allowances import ReplyAllowanceStore
from parlour_sdk.values import dataclass

from .composer import EXPIRY_MILLISECONDS
from .outbox import Outbox


@dataclass(frozen=True, slots=True)
class AllowedEvent:
    """An event with a reply allowance: the statements that belong to its unit, and the replies that it releases."""

    envelope: EventEnvelope
    statements: tuple[Statement, ...] = ()
    released: tuple[OutboxRow, ...] = ()


class HeldReplies:
    """Adds reply allowances to events, and sends held replies with the next event of their chat."""

    def __init__(self, journal: Journal, outbox: Outbox, clock: Clock) -> None:
        self._rows = OutboxStore(journal)
        self._allowances = ReplyAllowanceStore(journal)
        self._outbox = outbox
        self._clock = clock

    async def prepare(self, envelope: EventEnvelope, allowance: ReplyAllowance | None) -> AllowedEvent:
        """Returns the event with its allowance. Its statements must be committed with it, then call `after_commit`."""
        if allowance is None:
            return AllowedEvent(envelope)
        now = self._clock.now()
        marked = replace(envelope, metadata={**envelope.metadata, REPLY_ALLOWANCE: allowance.summary})
        held = await self._rows.held(envelope.bot_id, envelope.chat, now) if allowance.then == "hold" else []
        released = tuple(
            replace(
                row,
                state="pending",
                reply=ReplyUse(envelope.event_id),
                not_before=0,
                expires_at=now + EXPIRY_MILLISECONDS,
            )
            for row in held
        )
        statements = [outbox_rows.release(row, now) for row in released]
        return AllowedEvent(marked, (reply_allowances.insert(marked, allowance, now), *statements), released)

    async def count(self, bot_id: BotId, chat: str) -> int:
        """Returns how many replies wait for the next event of a chat."""
        return len(await self._rows.held(bot_id, chat, self._clock.now()))

    async def newest_handle(self, bot_id: BotId, chat: str) -> str:
        """Returns the handle of a chat's newest reply allowance; empty if there is none."""
        allowance = await self._allowances.newest_in_chat(bot_id, chat)
        return allowance.handle if allowance is not None else ""

    def after_commit(self, event: AllowedEvent) -> None:
        """Queues the released replies. One that was deleted in the meantime is left out by the outbox."""
        for row in event.released:
            self._outbox.enqueue(row)
