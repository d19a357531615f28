"""Plans faults of the simulated Telegram: refusals, silence, cuts, delays, and rate limits."""

import math
import time
from collections import deque
from dataclasses import dataclass

from parlour.testing.planned_faults import Planned, PlannedFaults

from .failures import Failed


@dataclass
class Faults(PlannedFaults[Failed]):
    delay_seconds: float = 0.0
    """Delay before each answer."""
    in_chat: tuple[int, float] = (6, 5.0)
    """Number of messages and edits per number of seconds; more are refused. Telegram asks for one a
    second and tolerates a burst.
    """
    in_group: tuple[int, float] = (20, 60.0)
    altogether: tuple[int, float] = (30, 1.0)
    refused: int = 0
    """Number of calls beyond the limit."""

    def __post_init__(self) -> None:
        self._times: dict[str, deque[float]] = {}

    def refuse(
        self, method: str, code: int = 400, words: str = "Bad Request: it failed", skip: int = 0, **parameters: int
    ) -> None:
        self.planned.append(Planned(method, Failed(code, words, parameters or None), skip=skip))

    def too_many(self, method: str, retry_after: int = 1, times: int = 1) -> None:
        for _ in range(times):
            self.refuse(method, 429, f"Too Many Requests: retry after {retry_after}", retry_after=retry_after)

    def check_rate(self, chat_id: int) -> None:
        """Raises Failed when there were too many calls; refused calls don't count."""
        limits = [(f"chat {chat_id}", self.in_chat), ("all", self.altogether)]
        if chat_id < 0:
            limits.append((f"group {chat_id}", self.in_group))
        now = time.monotonic()
        for name, (most, seconds) in limits:
            times = self._times.setdefault(name, deque())
            while times and times[0] <= now - seconds:
                times.popleft()
            if len(times) >= most:
                self.refused += 1
                wait = max(1, math.ceil(times[0] + seconds - now))
                raise Failed(429, f"Too Many Requests: retry after {wait}", {"retry_after": wait})
        for name, _ in limits:
            self._times[name].append(now)
