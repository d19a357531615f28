"""Days as the workspace's people count them."""

from datetime import datetime
from zoneinfo import ZoneInfo

from parlour.core.model.budget import Period
from parlour.core.model.ports import Clock

ALWAYS = "always"
"""The period of a budget that never begins anew; it sorts after every day."""


class Days:
    def __init__(self, clock: Clock, time_zone: str) -> None:
        self._clock = clock
        self.move(time_zone)

    def move(self, time_zone: str) -> None:
        """From now on the days are those of this time zone."""
        self.time_zone = time_zone
        self._found: ZoneInfo | None = None

    @property
    def _zone(self) -> ZoneInfo:
        """Looked up when it is first asked for."""
        if self._found is None:
            self._found = ZoneInfo(self.time_zone)
        return self._found

    def current(self, period: Period) -> str:
        return ALWAYS if period == "total" else self._now().date().isoformat()

    def of(self, moment: int) -> str:
        """The day that a moment belongs to."""
        return datetime.fromtimestamp(moment / 1000, self._zone).date().isoformat()

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now() / 1000, self._zone)
