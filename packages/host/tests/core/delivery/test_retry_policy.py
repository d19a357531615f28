"""The time of the next attempt, and when a row is given up."""

import pytest

from parlour.core.delivery import retry_policy
from parlour.core.delivery.retry_policy import MAX_ATTEMPTS, is_expired, is_given_up, next_attempt_at, retry_delay
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import SendRefused

NOW = 1_000_000


def make_row(**fields: int) -> OutboxRow:
    return OutboxRow(
        outbox_id="a",
        surface="platform",
        target="chat",
        conversation_id="chat",
        bot_id="bot",
        run_id="run",
        kind="message",
        state="sending",
        message={"role": "assistant", "content": "a"},
        address={},
        feed_seq=1,
        **{"created_at": NOW, "expires_at": NOW + 60_000, **fields},
    )


@pytest.mark.parametrize(("attempts", "seconds"), [(1, 1), (2, 4), (3, 16), (4, 64), (5, 256), (6, 300), (9, 300)])
def test_delay_grows_fourfold_up_to_a_limit(attempts: int, seconds: float) -> None:
    assert retry_delay(make_row(attempts=attempts), SendRefused("busy"), attempts, NOW) == seconds


@pytest.mark.parametrize(("waited", "seconds"), [(0, 0.5), (500, 0.5), (10_000, 5), (60_000, 30), (600_000, 30)])
def test_offline_platform_is_retried_less_often_over_time(waited: int, seconds: float) -> None:
    away = SendRefused("away", attempted=False)
    assert retry_delay(make_row(created_at=NOW - waited), away, 0, NOW) == seconds


@pytest.mark.parametrize(
    ("named", "refusals", "seconds"),
    [(0.0, 1, 0.5), (7.0, 1, 7), (0.0, 2, 1), (0.0, 5, 8), (20.0, 5, 20), (0.0, 12, 300), (900.0, 12, 900)],
)
def test_named_retry_time_is_kept_and_extended_on_repetition(named: float, refusals: int, seconds: float) -> None:
    assert retry_delay(make_row(), SendRefused("slow down", retry_after=named), refusals, NOW) == seconds


def test_many_refusals_do_not_overflow() -> None:
    slow = SendRefused("slow down", retry_after=1.0)
    assert retry_delay(make_row(), slow, 100_000, NOW) == retry_policy.MAX_RETRY_SECONDS


def test_next_attempt_is_in_milliseconds() -> None:
    assert next_attempt_at(make_row(), SendRefused("slow down", retry_after=2.5), 1, NOW) == NOW + 2500


@pytest.mark.parametrize(
    ("attempts", "permanent", "given_up"),
    [(0, False, False), (0, True, True), (MAX_ATTEMPTS - 1, False, False), (MAX_ATTEMPTS, False, True)],
)
def test_row_is_given_up_after_a_permanent_refusal_or_its_last_attempt(
    attempts: int, permanent: bool, given_up: bool
) -> None:
    assert is_given_up(make_row(attempts=attempts), SendRefused("no", permanent=permanent)) is given_up


@pytest.mark.parametrize(
    ("expires_at", "expired"), [(0, False), (NOW + 1, False), (NOW, True), (NOW - 1, True)], ids=str
)
def test_row_expires_at_its_expiry_time(expires_at: int, expired: bool) -> None:
    assert is_expired(make_row(expires_at=expires_at), NOW) is expired
