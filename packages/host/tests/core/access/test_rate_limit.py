"""Token buckets that refuse, and paced buckets that delay."""

import asyncio

from parlour.core.access.rate_limit import MAX_DELAY_SECONDS, PacedBucket, TokenBucket


async def test_burst_is_allowed_and_the_next_call_refused() -> None:
    rate = TokenBucket(per_second=10, burst=3)
    assert [rate.try_acquire() for _ in range(4)] == [True, True, True, False]


async def test_bucket_refills_over_time() -> None:
    rate = TokenBucket(per_second=10, burst=3)
    while rate.try_acquire():
        pass
    await asyncio.sleep(0.2)
    assert [rate.try_acquire() for _ in range(3)] == [True, True, False]


async def test_idle_bucket_holds_no_more_than_a_burst() -> None:
    rate = TokenBucket(per_second=10, burst=3)
    await asyncio.sleep(1000)
    assert [rate.try_acquire() for _ in range(4)] == [True, True, True, False]


async def test_first_calls_start_at_once_and_later_ones_are_spaced() -> None:
    spacing = PacedBucket(per_second=20, burst=3)
    assert [round(spacing.reserve_delay(), 3) for _ in range(6)] == [0, 0, 0, 0.05, 0.1, 0.15]


async def test_calls_at_the_configured_pace_are_not_delayed() -> None:
    spacing = PacedBucket(per_second=10, burst=1)
    for _ in range(5):
        assert spacing.reserve_delay() < 0.001
        await asyncio.sleep(0.1)


async def test_delay_is_bounded_for_any_number_of_calls() -> None:
    spacing = PacedBucket(per_second=10, burst=3)
    assert max(spacing.reserve_delay() for _ in range(1000)) == MAX_DELAY_SECONDS


async def test_idle_paced_bucket_starts_only_its_burst_at_once() -> None:
    spacing = PacedBucket(per_second=10, burst=3)
    await asyncio.sleep(1000)
    assert [spacing.reserve_delay() > 0 for _ in range(4)] == [False, False, False, True]
