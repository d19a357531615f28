"""How long a plugin that failed has to wait for its next start, and when there is none."""

from collections import deque
from collections.abc import Callable

from .policy import RestartPolicy

_DOUBLINGS = 64
"""More make no difference, and a number that large could not be told any more."""


class Failures:
    def __init__(self, policy: RestartPolicy, clock: Callable[[], float]) -> None:
        self._policy = policy
        self._clock = clock
        self._times: deque[float] = deque()

    @property
    def count(self) -> int:
        return len(self._times)

    def another(self) -> float | None:
        """The seconds until the next start; None when it failed too often in the time that counts."""
        now = self._clock()
        self._times.append(now)
        while self._times[0] < now - self._policy.within_seconds:
            self._times.popleft()
        if self.count >= self._policy.give_up_after:
            return None
        return min(self._policy.first_delay * 2.0 ** min(self.count - 1, _DOUBLINGS), self._policy.longest_delay)

    def in_words(self) -> str:
        """What there is to do about them, once they are too many."""
        if self.count < self._policy.give_up_after:
            return ""
        within = f"{self.count} times within {self._policy.within_seconds / 60:g} minutes"
        return f" (it failed {within} and is not started again by itself; restart it when that is mended)"

    def forget(self) -> None:
        self._times.clear()
