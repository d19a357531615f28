"""A token bucket."""

import asyncio

from parlour.core.access.rate import Rate


async def test_a_burst_is_let_through_and_then_refused() -> None:
    rate = Rate(per_second=10, burst=3)
    assert [rate.take() for _ in range(4)] == [True, True, True, False]


async def test_it_fills_again_with_time() -> None:
    rate = Rate(per_second=10, burst=3)
    while rate.take():
        pass
    await asyncio.sleep(0.2)
    assert [rate.take() for _ in range(3)] == [True, True, False]


async def test_a_long_rest_gives_no_more_than_a_burst() -> None:
    rate = Rate(per_second=10, burst=3)
    await asyncio.sleep(1000)
    assert [rate.take() for _ in range(4)] == [True, True, True, False]
