"""Days of a budget begin at midnight in the workspace time zone."""

import pytest

from parlour.core.models.days import ALWAYS, Days


class FixedClock:
    def __init__(self, now: int) -> None:
        self._now = now

    def now(self) -> int:
        return self._now


@pytest.mark.parametrize(
    ("zone", "day"), [("UTC", "2026-11-15"), ("Asia/Shanghai", "2026-11-16"), ("America/New_York", "2026-11-15")]
)
def test_day_depends_on_the_time_zone(zone: str, day: str) -> None:
    assert Days(FixedClock(1_794_780_000_000), zone).current_period("day") == day


def test_total_period_sorts_after_every_day() -> None:
    days = Days(FixedClock(1_794_780_000_000), "UTC")
    assert days.current_period("total") == ALWAYS
    assert days.current_period("day") < ALWAYS
