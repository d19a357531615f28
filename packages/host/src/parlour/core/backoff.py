"""Computes delays between attempts: exponential, with jitter so that retries of many callers do not coincide."""

import random


class Backoff:
    """Exponential back-off of one connection, plugin or call."""

    def __init__(self, first_seconds: float = 1.0, max_seconds: float = 60.0) -> None:
        self._first_seconds = first_seconds
        self._max_seconds = max_seconds
        self._next = first_seconds

    def next_delay(self) -> float:
        """Returns the seconds until the next attempt: between half of the current step and the whole step."""
        step, self._next = self._next, min(self._next * 2, self._max_seconds)
        return step * random.uniform(0.5, 1)

    def reset(self) -> None:
        """Starts over with the first delay, after an attempt succeeded."""
        self._next = self._first_seconds
