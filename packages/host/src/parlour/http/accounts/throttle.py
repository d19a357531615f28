"""Slows down password guessing: counts attempts by account and by address, in memory, and drops them after a minute."""

from collections import deque
from collections.abc import Callable
from typing import Literal

from parlour.core.model.ports import Clock

from ..errors import Problem

MAX_TRIES = 5
WINDOW_MILLISECONDS = 60_000
MAX_TRACKED_NAMES = 10_000

Reason = Literal["tries", "busy"]


class LoginThrottle:
    def __init__(self, clock: Clock, on_refused: Callable[[Reason], None]) -> None:
        """`on_refused` is called for each rejected attempt."""
        self._clock = clock
        self._on_refused = on_refused
        self._tries: dict[str, deque[int]] = {}

    def count_attempt(self, *names: str) -> None:
        """Counts an attempt before its password is checked, so that concurrent attempts count too. Raises Problem."""
        now = self._clock.now()
        for name in names:
            tries = self._recent(name, now)
            if len(tries) >= MAX_TRIES:
                self._on_refused("tries")
                seconds = max(1, (tries[0] + WINDOW_MILLISECONDS - now + 999) // 1000)
                raise Problem(429, "rate_limited", f"too many tries; wait {seconds} seconds", {"retry_after": seconds})
        for name in names:
            if name not in self._tries and len(self._tries) >= MAX_TRACKED_NAMES:
                self._tries.pop(next(iter(self._tries)))
            self._tries.setdefault(name, deque(maxlen=MAX_TRIES)).append(now)

    def record_success(self, account: str, *other_keys: str) -> None:
        """Drops all attempts for an account whose password was right; for the other names only this attempt."""
        self._tries.pop(account, None)
        self._uncount_attempt(*other_keys)

    def record_busy(self, *names: str) -> None:
        """Takes back an attempt whose password could not be checked."""
        self._on_refused("busy")
        self._uncount_attempt(*names)

    def _uncount_attempt(self, *names: str) -> None:
        for name in names:
            if tries := self._tries.get(name):
                tries.pop()

    def _recent(self, name: str, now: int) -> deque[int]:
        tries = self._tries.get(name, deque())
        while tries and tries[0] <= now - WINDOW_MILLISECONDS:
            tries.popleft()
        return tries
