"""Connecting again takes longer each time, never exactly as long, and begins anew after a connection that held."""

from parlour.platforms._kit.backoff import FIRST_DELAY_SECONDS, MAX_DELAY_SECONDS, Backoff


def test_each_wait_is_up_to_twice_the_one_before_until_the_longest() -> None:
    backoff, step = Backoff(), FIRST_DELAY_SECONDS
    for _ in range(12):
        assert step / 2 <= backoff.next_delay() <= step
        step = min(step * 2, MAX_DELAY_SECONDS)
    assert step == MAX_DELAY_SECONDS
    backoff.reset()
    assert backoff.next_delay() <= FIRST_DELAY_SECONDS


def test_two_that_failed_together_do_not_come_back_together() -> None:
    assert len({Backoff().next_delay() for _ in range(20)}) > 1
