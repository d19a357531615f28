"""Computes the delay before the next connection attempt: exponential, with jitter so that bots do not reconnect in
step.
"""

import random

FIRST_DELAY_SECONDS = 1.0
MAX_DELAY_SECONDS = 60.0


class Backoff:
    """Exponential back-off of one connection."""

    def __init__(self) -> None:
        self._next = FIRST_DELAY_SECONDS

    def next_delay(self) -> float:
        """Returns the seconds until the next attempt: between half of the current step and the whole step."""
        step, self._next = self._next, min(self._next * 2, MAX_DELAY_SECONDS)
        return step * random.uniform(0.5, 1)

    def reset(self) -> None:
        """Resets the delay after a successful connection."""
        self._next = FIRST_DELAY_SECONDS
