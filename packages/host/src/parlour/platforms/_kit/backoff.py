"""How long to wait before connecting again: longer after each failure, never in step with others."""

import random

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 60.0


class Backoff:
    def __init__(self) -> None:
        self._next = FIRST_SECONDS

    def another(self) -> float:
        """The seconds until the next try: between half of the step and the whole of it."""
        step, self._next = self._next, min(self._next * 2, LONGEST_SECONDS)
        return step * random.uniform(0.5, 1)

    def forget(self) -> None:
        """The connection held: the next failure is a first one."""
        self._next = FIRST_SECONDS
