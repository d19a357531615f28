"""Counters of rate limits: guarded statements for the unit that does what is limited.

A unit whose limit is used up fails its guard, so nothing above a limit is ever committed, by however many Hosts. There
is one row per policy and subject, which moves on to the current window.
"""

from parlour.core.journal import (
    ANY,
    Condition,
    Delete,
    Increment,
    Insert,
    Journal,
    Row,
    Select,
    Statement,
    Update,
    at_most,
    below,
    where,
)
from parlour.core.model.ids import ConversationId, LimitPolicyId
from parlour.core.model.rate_limit import LimitState, LimitSubject, RateLimit

from .tables import LIMITS


class LimitCounters:
    """Builds the statements that count uses, and reads what is left."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def take(self, limit: RateLimit, subject: LimitSubject, now: int, amount: int = 1) -> tuple[Statement, ...]:
        """Returns the statements that count uses. They fail their guard if fewer are left.

        They may also fail because another Host has counted since, or has a clock that is ahead. After a failed guard,
        `state` says which: if enough is left, the caller repeats this with the time of that state.
        """
        if amount < 1:
            raise ValueError("at least one use must be counted")
        if limit.kind == "sliding":
            return (_take_sliding(limit, subject, now, amount, await self._row(limit, subject)),)
        return take_blindly(limit, subject, now, amount)

    async def state(self, limit: RateLimit, subject: LimitSubject, now: int, amount: int = 1) -> LimitState:
        """Returns what is left, and when `amount` uses will fit."""
        row = await self._row(limit, subject)
        if limit.kind == "bucket":
            return _bucket_state(limit, now, amount, row["full_at"] if row else 0)
        now = max(now, row["window"]) if row else now
        start, end = limit.window(now)
        used, previous = _uses(limit, row, start)
        left = max(0, limit.count - used - _carried(previous, now, start, end))
        if left >= amount:
            return LimitState(now, left, now)
        return LimitState(now, left, _fits_at(limit, amount, used, previous, start, end))

    async def _row(self, limit: RateLimit, subject: LimitSubject) -> Row | None:
        rows = await self._journal.read(Select(LIMITS, _key(limit, subject), limit=1, point_read=True))
        return rows[0] if rows else None


def take_blindly(limit: RateLimit, subject: LimitSubject, now: int, amount: int) -> tuple[Statement, ...]:
    """Returns the statements for limits that need no read: fixed windows, days and buckets."""
    key = _key(limit, subject)
    if limit.kind == "bucket":
        full, each = now * 1000, limit.refill_us
        expires_at = now + limit.capacity * each // 1000 + 1
        spent: dict[str, int | Increment] = {"full_at": Increment(amount * each), "expires_at": expires_at}
        return (
            Insert(LIMITS, _new_row(limit, subject, 0, 0, expires_at), conflict="ignore"),
            Update(LIMITS, {"full_at": full}, key + where(full_at=below(full)), expect=ANY),
            Update(LIMITS, spent, key + where(full_at=at_most(full + (limit.capacity - amount) * each))),
        )
    start, end = limit.window(now)
    next_window = {"window": start, "used": 0, "expires_at": end}
    return (
        Insert(LIMITS, _new_row(limit, subject, start, 0, end), conflict="ignore"),
        Update(LIMITS, next_window, key + where(window=below(start)), expect=ANY),
        Update(LIMITS, {"used": Increment(amount)}, key + where(window=start, used=at_most(limit.count - amount))),
    )


def delete_for_conversation(conversation_id: ConversationId) -> Delete:
    return Delete(LIMITS, where(conversation_id=conversation_id), expect=ANY)


def delete_for_subject(subject: LimitSubject) -> Delete:
    """Builds the statement that deletes all counters of a person or another subject."""
    return Delete(LIMITS, where(subject=subject.key), expect=ANY)


def delete_for_policy(policy_id: LimitPolicyId) -> Delete:
    return Delete(LIMITS, where(policy_id=policy_id), expect=ANY)


def _take_sliding(limit: RateLimit, subject: LimitSubject, now: int, amount: int, row: Row | None) -> Statement:
    """Returns one statement that is valid for the row as it was read. Only the start of a window is exclusive."""
    now = max(now, row["window"]) if row else now
    start, end = limit.window(now)
    used, previous = _uses(limit, row, start)
    allowed = limit.count - _carried(previous, now, start, end) - amount
    key, expires_at = _key(limit, subject), end + limit.window_ms
    if used > allowed:
        return Update(LIMITS, {"used": used}, key + where(used=below(0)))  # never holds
    if row is None:
        return Insert(LIMITS, _new_row(limit, subject, start, amount, expires_at))
    if row["window"] == start:
        unchanged = where(window=start, previous=previous, used=at_most(allowed))
        return Update(LIMITS, {"used": Increment(amount)}, key + unchanged)
    moved = {"window": start, "used": amount, "previous": previous, "expires_at": expires_at}
    return Update(LIMITS, moved, key + where(window=row["window"], used=row["used"]))


def _uses(limit: RateLimit, row: Row | None, start: int) -> tuple[int, int]:
    """Returns the uses in the window of this start and, for a sliding limit, in the one before."""
    if row is None:
        return 0, 0
    if row["window"] == start:
        return row["used"], row["previous"]
    is_next = limit.kind == "sliding" and row["window"] == start - limit.window_ms
    return 0, row["used"] if is_next else 0


def _carried(previous: int, now: int, start: int, end: int) -> int:
    """Returns the uses of the window before that count at this time, rounded up."""
    return -(-previous * (end - now) // (end - start))


def _fits_at(limit: RateLimit, amount: int, used: int, previous: int, start: int, end: int) -> int:
    """Returns the time at which uses fit; the end of the window if they never will."""
    room = limit.count - amount
    if limit.kind != "sliding" or room < 0:
        return end
    length = end - start
    if previous and room >= used:
        return end - (room - used) * length // previous
    return max(end, end + length - room * length // used)


def _bucket_state(limit: RateLimit, now: int, amount: int, full_at: int) -> LimitState:
    each, full_at = limit.refill_us, max(full_at, now * 1000)
    left = max(0, limit.capacity - -(-(full_at - now * 1000) // each))
    if left >= amount:
        return LimitState(now, left, now)
    return LimitState(now, left, -(-(full_at - (limit.capacity - amount) * each) // 1000))


def _key(limit: RateLimit, subject: LimitSubject) -> tuple[Condition, ...]:
    return where(policy_id=limit.policy_id, subject=subject.key, shape=limit.shape)


def _new_row(limit: RateLimit, subject: LimitSubject, window: int, used: int, expires_at: int) -> dict[str, str | int]:
    texts: dict[str, str | int] = {"policy_id": limit.policy_id, "subject": subject.key, "shape": limit.shape}
    texts["conversation_id"] = subject.conversation_id
    return {**texts, "window": window, "used": used, "previous": 0, "full_at": 0, "expires_at": expires_at}
