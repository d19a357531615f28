"""Statements and reads of reply allowances. `core/delivery/reply_policy.py` decides by them."""

from dataclasses import field

from parlour.core.journal import ANY, Insert, Journal, Row, Select, Update, Value, where
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ids import BotId, EventId
from parlour.core.model.reply_allowance import AllowanceFallback, AllowanceScope, ReplyAllowance, ReplyUse
from parlour_sdk.values import dataclass

from .tables import REPLY_ALLOWANCES

KEEP_MILLISECONDS = 24 * 3600 * 1000
"""Milliseconds for which an allowance is kept after its time, so that a late reply still finds its fallback."""
UNLIMITED_KEEP_MILLISECONDS = 30 * 24 * 3600 * 1000
"""Milliseconds for which an allowance without a time limit is kept."""


@dataclass(frozen=True, slots=True)
class StoredAllowance:
    """An allowance with the number of replies that used it."""

    bot_id: BotId
    event_id: EventId
    handle: str = field(repr=False)
    allowed: int
    used: int
    until: int
    then: AllowanceFallback
    scope: AllowanceScope
    repeatable: bool
    reason: str

    def has_room(self, now: int) -> bool:
        """Returns whether one more reply is allowed now."""
        return (not self.allowed or self.used < self.allowed) and not 0 < self.until <= now

    def next_use(self) -> ReplyUse:
        """Returns the next reply under this allowance."""
        return ReplyUse(self.event_id, self.used + 1, self.handle, self.repeatable, self.until)


def insert(event: EventEnvelope, allowance: ReplyAllowance, now: int) -> Insert:
    """Builds the statement that inserts the allowance of an event, in the unit that accepts it.

    A redelivery changes nothing.
    """
    until = allowance.until
    values: dict[str, Value] = {
        "bot_id": event.bot_id,
        "event_id": event.event_id,
        "chat": event.chat,
        "handle": allowance.handle,
        "fallback": allowance.then,
        "scope": allowance.scope,
        "reason": allowance.reason,
        "allowed": allowance.count,
        "used": 0,
        "repeatable": int(allowance.repeatable),
        "until": until,
        "created_at": now,
        "expires_at": max(until, now) + KEEP_MILLISECONDS if until else now + UNLIMITED_KEEP_MILLISECONDS,
    }
    return Insert(REPLY_ALLOWANCES, values, conflict="ignore")


def use(allowance: StoredAllowance) -> Update:
    """Builds the statement that counts one reply.

    It fails its guard if another reply was counted since the allowance was read.
    """
    guard = where(bot_id=allowance.bot_id, event_id=allowance.event_id, used=allowance.used, until=allowance.until)
    return Update(REPLY_ALLOWANCES, {"used": allowance.used + 1}, guard)


def close(bot_id: BotId, event_id: EventId, now: int) -> Update:
    """Builds the statement that ends an allowance whose handle the platform rejected."""
    return Update(REPLY_ALLOWANCES, {"until": now}, where(bot_id=bot_id, event_id=event_id), expect=ANY)


class ReplyAllowanceStore:
    """Reads reply allowances."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def get(self, bot_id: BotId, event_id: EventId) -> StoredAllowance | None:
        query = Select(REPLY_ALLOWANCES, where(bot_id=bot_id, event_id=event_id), limit=1, point_read=True)
        rows = await self._journal.read(query)
        return _from_row(rows[0]) if rows else None

    async def newest_in_chat(self, bot_id: BotId, chat: str) -> StoredAllowance | None:
        conditions = where(bot_id=bot_id, chat=chat)
        query = Select(REPLY_ALLOWANCES, conditions, (), ("created_at",), "descending", limit=1, point_read=True)
        rows = await self._journal.read(query)
        return _from_row(rows[0]) if rows else None


def _from_row(row: Row) -> StoredAllowance:
    return StoredAllowance(
        bot_id=row["bot_id"],
        event_id=row["event_id"],
        handle=row["handle"],
        allowed=row["allowed"],
        used=row["used"],
        until=row["until"],
        then=row["fallback"],
        scope=row["scope"],
        repeatable=bool(row["repeatable"]),
        reason=row["reason"],
    )
