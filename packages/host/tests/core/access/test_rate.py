"""Token buckets."""

import asyncio

from parlour.core.access.rate_limit import MAX_DELAY_SECONDS, PacedBucket, TokenBucket


async def test_a_burst_is_let_through_and_then_refused() -> None:
    rate = TokenBucket(per_second=10, burst=3)
    assert [rate.try_acquire() for _ in range(4)] == [True, True, True, False]


async def test_it_fills_again_with_time() -> None:
    rate = TokenBucket(per_second=10, burst=3)
    while rate.try_acquire():
        pass
    await asyncio.sleep(0.2)
    assert [rate.try_acquire() for _ in range(3)] == [True, True, False]


async def test_a_long_rest_gives_no_more_than_a_burst() -> None:
    rate = TokenBucket(per_second=10, burst=3)
    await asyncio.sleep(1000)
    assert [rate.try_acquire() for _ in range(4)] == [True, True, True, False]


async def test_a_few_begin_at_once_and_the_others_one_after_the_other() -> None:
    spacing = PacedBucket(per_second=20, at_once=3)
    assert [round(spacing.reserve_delay(), 3) for _ in range(6)] == [0, 0, 0, 0.05, 0.1, 0.15]


async def test_who_asks_at_the_pace_never_waits() -> None:
    spacing = PacedBucket(per_second=10, at_once=1)
    for _ in range(5):
        assert spacing.reserve_delay() < 0.001
        await asyncio.sleep(0.1)


async def test_nobody_waits_longer_than_a_moment_however_many_asked_before() -> None:
    spacing = PacedBucket(per_second=10, at_once=3)
    assert max(spacing.reserve_delay() for _ in range(1000)) == MAX_DELAY_SECONDS


async def test_a_long_rest_lets_no_more_than_a_few_begin_at_once() -> None:
    spacing = PacedBucket(per_second=10, at_once=3)
    await asyncio.sleep(1000)
    assert [spacing.reserve_delay() > 0 for _ in range(4)] == [False, False, False, True]
