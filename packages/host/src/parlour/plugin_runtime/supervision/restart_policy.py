"""Decides how long a failed plugin waits for its next start, and when it is given up for a while."""

from collections import deque
from collections.abc import Callable

from parlour.core.backoff import exponential_delay

from .policy import RestartPolicy


class FailureWindow:
    """The recent failures of one plugin."""

    def __init__(self, policy: RestartPolicy, clock: Callable[[], float]) -> None:
        self._policy = policy
        self._clock = clock
        self._times: deque[float] = deque()

    @property
    def count(self) -> int:
        return len(self._times)

    @property
    def too_many(self) -> bool:
        return self.count >= self._policy.give_up_after

    def record(self) -> float:
        """Records a failure and returns the seconds until the next start.

        After too many failures, these are the seconds until none of them counts any more.
        """
        now = self._clock()
        self._times.append(now)
        while self._times[0] < now - self._policy.within_seconds:
            self._times.popleft()
        if self.too_many:
            return self._policy.within_seconds
        return exponential_delay(self.count, self._policy.first_delay_seconds, self._policy.max_delay_seconds)

    def advice(self) -> str:
        """Returns what to do about the failures; empty unless they are too many."""
        if not self.too_many:
            return ""
        minutes = f"{self._policy.within_seconds / 60:g} minutes"
        failed = f"it failed {self.count} times within {minutes}"
        return f" ({failed} and is tried again only in {minutes}; restart it when that is mended)"

    def clear(self) -> None:
        self._times.clear()
