"""Days as the workspace's people count them."""

from datetime import datetime, timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

from parlour.core.ports import Clock

from .budget import Period

ALWAYS = "always"
"""The period of a budget that never begins anew; it sorts after every day."""
KEPT_DAYS = 400


class Days:
    def __init__(self, clock: Clock, time_zone: str) -> None:
        self._clock = clock
        self._time_zone = time_zone

    @cached_property
    def _zone(self) -> ZoneInfo:
        return ZoneInfo(self._time_zone)

    def current(self, period: Period) -> str:
        return ALWAYS if period == "total" else self._now().date().isoformat()

    def oldest_kept(self) -> str:
        return (self._now() - timedelta(days=KEPT_DAYS)).date().isoformat()

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now() / 1000, self._zone)
