"""Computes when an outbox row is retried, and when it is given up."""

from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import SendRefused

MAX_ATTEMPTS = 5
"""Attempts before a row fails. Waiting for an offline platform, or until a time that the platform named, uses up none:
such a row is retried until it expires.
"""
FIRST_RETRY_SECONDS = 1.0
"""Seconds before the first retry after a failure; each further one waits four times as long."""
OFFLINE_RETRY_SECONDS = 0.5
"""Minimum seconds before a retry if the platform is offline or named a time."""
MAX_OFFLINE_RETRY_SECONDS = 30.0
"""Maximum seconds between two retries while the platform is offline."""
MAX_RETRY_SECONDS = 300.0
"""Maximum seconds between two retries after failures."""


def is_given_up(row: OutboxRow, refusal: SendRefused) -> bool:
    """Returns whether a refused row fails for good. The refusal is already counted in the row's attempts."""
    return refusal.permanent or row.attempts >= MAX_ATTEMPTS


def is_expired(row: OutboxRow, now: int) -> bool:
    """Returns whether the time in which the row may be sent is over. A row without such a time never expires."""
    return bool(row.expires_at) and now >= row.expires_at


def next_attempt_at(row: OutboxRow, refusal: SendRefused, refusals: int, now: int) -> int:
    """Returns the time of the next attempt in milliseconds. `refusals` counts the sends that the platform refused
    since the row was last queued.
    """
    return now + int(1000 * retry_delay(row, refusal, refusals, now))


def retry_delay(row: OutboxRow, refusal: SendRefused, refusals: int, now: int) -> float:
    """Returns the seconds before the next attempt. If a platform repeatedly names a time, the pauses grow beyond it."""
    if refusal.retry_after is not None:
        backoff = float(2 ** min(refusals - 2, 10)) if refusals > 1 else 0.0
        return max(OFFLINE_RETRY_SECONDS, refusal.retry_after, min(backoff, MAX_RETRY_SECONDS))
    if not refusal.attempted:  # a row that has waited longer is retried less often
        waited_seconds = (now - row.created_at) / 2000
        return min(max(OFFLINE_RETRY_SECONDS, waited_seconds), MAX_OFFLINE_RETRY_SECONDS)
    return min(FIRST_RETRY_SECONDS * float(4 ** (row.attempts - 1)), MAX_RETRY_SECONDS)
