"""Counts calls in sliding windows, as the rate limits of platforms do."""

import time
from collections import deque
from collections.abc import Mapping

Limit = tuple[float, float]
"""Number of calls per number of seconds."""


class RateWindows:
    def __init__(self) -> None:
        self._times: dict[str, deque[float]] = {}
        self.refused = 0
        """Number of calls beyond a limit."""

    def seconds_to_wait(self, limits: Mapping[str, Limit]) -> float:
        """Counts a call against these limits by name. Returns 0, or the seconds until a call is accepted again; a
        refused call does not count.
        """
        now = time.monotonic()
        for name, (number, seconds) in limits.items():
            times = self._times.setdefault(name, deque())
            while times and times[0] <= now - seconds:
                times.popleft()
            if len(times) >= number:
                self.refused += 1
                return times[0] + seconds - now
        for name in limits:
            self._times[name].append(now)
        return 0.0

    def used(self, name: str, seconds: float) -> tuple[int, float]:
        """Returns the calls that count against a limit now, and the seconds until the first of them no longer does."""
        now = time.monotonic()
        counted = [each for each in self._times.get(name, ()) if each > now - seconds]
        return len(counted), (counted[0] + seconds - now if counted else 0.0)
