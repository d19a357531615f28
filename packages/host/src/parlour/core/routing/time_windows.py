"""Time windows of the week, in a time zone. A window over midnight belongs to the day on which it starts."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def is_within(window: Mapping[str, Any], at: int) -> bool:
    """Returns whether a time in epoch milliseconds is in the window. Equal start and end mean the whole day."""
    local = datetime.fromtimestamp(at / 1000, UTC).astimezone(load_zone(window.get("timezone") or "UTC"))
    begin, end = _minutes(window["from"]), _minutes(window["to"])
    minute = local.hour * 60 + local.minute
    if begin < end:
        return begin <= minute < end and _includes_day(window, local)
    if minute >= begin:
        return _includes_day(window, local)
    return minute < end and _includes_day(window, local - timedelta(days=1))


def _includes_day(window: Mapping[str, Any], day: datetime) -> bool:
    days = window.get("days")
    return not days or DAYS[day.weekday()] in days


def _minutes(time_text: str) -> int:
    hours, _, minutes = time_text.partition(":")
    return int(hours) * 60 + int(minutes)


@lru_cache(maxsize=64)
def load_zone(name: str) -> ZoneInfo:
    """Returns the time zone. Raises ZoneInfoNotFoundError, or ValueError for an invalid name."""
    return ZoneInfo(name)
