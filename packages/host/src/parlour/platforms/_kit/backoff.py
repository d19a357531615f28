"""Computes the delay before the next connection attempt: exponential, with jitter so that bots do not reconnect in
step.
"""

import random

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 60.0


class Backoff:
    """Exponential back-off of one connection."""

    def __init__(self) -> None:
        self._next = FIRST_SECONDS

    def another(self) -> float:
        """Returns the seconds until the next attempt: between half of the current step and the whole step."""
        step, self._next = self._next, min(self._next * 2, LONGEST_SECONDS)
        return step * random.uniform(0.5, 1)

    def forget(self) -> None:
        """Resets the delay after a successful connection."""
        self._next = FIRST_SECONDS
