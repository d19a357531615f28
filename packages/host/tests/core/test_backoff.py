"""Delays double up to a maximum, differ from each other, and start over after a success."""

import pytest

from parlour.core.backoff import Backoff, exponential_delay


@pytest.mark.parametrize(("failures", "seconds"), [(1, 0.5), (2, 1), (3, 2), (4, 3), (10_000, 3)])
def test_the_delay_doubles_with_each_failure_up_to_the_maximum(failures: int, seconds: float) -> None:
    assert exponential_delay(failures, 0.5, 3) == seconds


def test_the_first_delay_is_never_above_the_maximum() -> None:
    assert exponential_delay(1, 10, 3) == 3


def test_a_delay_lies_between_half_of_the_step_and_the_whole_step() -> None:
    backoff = Backoff()
    for step in (1, 2, 4, 8, 16, 32, 60, 60):
        assert step / 2 <= backoff.next_delay() <= step


def test_the_delay_starts_over_after_a_success() -> None:
    backoff = Backoff(1, 8)
    for _ in range(4):
        backoff.next_delay()
    backoff.reset()
    assert backoff.next_delay() <= 1


def test_callers_that_failed_together_do_not_retry_together() -> None:
    assert len({Backoff().next_delay() for _ in range(20)}) > 1


def test_delays_without_jitter_are_exact() -> None:
    backoff = Backoff(0.25, 1, jitter=0)
    assert [backoff.next_delay() for _ in range(4)] == [0.25, 0.5, 1, 1]
