"""Slows down whoever guesses passwords: by account and by address, in memory, forgotten after a while."""

from collections import deque

from parlour.core.ports import Clock

from ..errors import Problem

FAILURES = 5
WITHIN = 60_000
REMEMBERED = 10_000


class Throttle:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures: dict[str, deque[int]] = {}

    def check(self, *names: str) -> None:
        """Before a password is looked at."""
        now = self._clock.now()
        for name in names:
            failures = self._recent(name, now)
            if len(failures) >= FAILURES:
                seconds = max(1, (failures[0] + WITHIN - now + 999) // 1000)
                raise Problem(429, "rate_limited", f"too many tries; wait {seconds} seconds", {"retry_after": seconds})

    def failed(self, *names: str) -> None:
        for name in names:
            if len(self._failures) >= REMEMBERED:
                self._failures.pop(next(iter(self._failures)))
            self._failures.setdefault(name, deque(maxlen=FAILURES)).append(self._clock.now())

    def succeeded(self, *names: str) -> None:
        for name in names:
            self._failures.pop(name, None)

    def _recent(self, name: str, now: int) -> deque[int]:
        failures = self._failures.get(name, deque())
        while failures and failures[0] <= now - WITHIN:
            failures.popleft()
        return failures
