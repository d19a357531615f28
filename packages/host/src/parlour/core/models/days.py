"""Calendar days in the time zone of the workspace."""

from datetime import datetime
from zoneinfo import ZoneInfo

from parlour.core.model.budget import Period
from parlour.core.model.ports import Clock

ALWAYS = "always"
"""Period of a budget that never starts over; it sorts after every day."""


class Days:
    """Assigns times to days of the workspace's time zone."""

    def __init__(self, clock: Clock, time_zone: str) -> None:
        self._clock = clock
        self.set_time_zone(time_zone)

    def set_time_zone(self, time_zone: str) -> None:
        """Changes the time zone."""
        self.time_zone = time_zone
        self._zone_info: ZoneInfo | None = None

    @property
    def _zone(self) -> ZoneInfo:
        """The time zone's data, loaded on first use."""
        if self._zone_info is None:
            self._zone_info = ZoneInfo(self.time_zone)
        return self._zone_info

    def current_period(self, period: Period) -> str:
        """Returns the current period of a budget: today's ISO date, or `ALWAYS`."""
        return ALWAYS if period == "total" else self._now().date().isoformat()

    def day_of(self, moment: int) -> str:
        """Returns the day of a time in milliseconds, as an ISO date."""
        return datetime.fromtimestamp(moment / 1000, self._zone).date().isoformat()

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now() / 1000, self._zone)
