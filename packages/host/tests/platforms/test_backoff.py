"""Connecting again takes longer each time, never exactly as long, and begins anew after a connection that held."""

from parlour.platforms._kit.backoff import FIRST_SECONDS, LONGEST_SECONDS, Backoff


def test_each_wait_is_up_to_twice_the_one_before_until_the_longest() -> None:
    backoff, step = Backoff(), FIRST_SECONDS
    for _ in range(12):
        assert step / 2 <= backoff.another() <= step
        step = min(step * 2, LONGEST_SECONDS)
    assert step == LONGEST_SECONDS
    backoff.forget()
    assert backoff.another() <= FIRST_SECONDS


def test_two_that_failed_together_do_not_come_back_together() -> None:
    assert len({Backoff().another() for _ in range(20)}) > 1
