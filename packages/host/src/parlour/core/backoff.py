"""Computes delays between attempts: exponential, with jitter so that retries of many callers do not coincide."""

import random

MAX_DOUBLINGS = 64
"""Maximum number of doublings. More make no difference, and the number would become too large to compute."""


def exponential_delay(failures: int, first_seconds: float, max_seconds: float) -> float:
    """Returns the delay after this many failures in a row: doubled each time, and at most `max_seconds`."""
    return min(first_seconds * 2.0 ** min(failures - 1, MAX_DOUBLINGS), max_seconds)


class Backoff:
    """Exponential back-off of one connection, plugin or call."""

    def __init__(self, first_seconds: float = 1.0, max_seconds: float = 60.0, jitter: float = 0.5) -> None:
        """`jitter` is the part of a delay that is random: 0.5 means between half of the delay and the whole delay."""
        self._first_seconds = first_seconds
        self._max_seconds = max_seconds
        self._jitter = jitter
        self._failures = 0

    def next_delay(self) -> float:
        """Returns the seconds until the next attempt."""
        self._failures += 1
        delay = exponential_delay(self._failures, self._first_seconds, self._max_seconds)
        return delay * random.uniform(1 - self._jitter, 1)

    def reset(self) -> None:
        """Starts over with the first delay, after an attempt succeeded."""
        self._failures = 0
