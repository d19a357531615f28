"""Plans faults of the simulated implementation: refusals, silence, cuts, delays, repeats, disorder."""

import asyncio
import random
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from parlour.testing.planned_faults import Planned, PlannedFaults

from .world import Failed


@dataclass
class Faults(PlannedFaults[Failed]):
    seed: int = 0
    delay_seconds: float = 0.0
    """Delay before each answer."""
    sends_per_second: float = 0.0
    """Sends above this rate are refused as too frequent; 0 means no limit."""
    repeat: float = 0.0
    """Probability that an event is delivered a second time."""
    swap: float = 0.0
    """Probability that an event is overtaken by the next one."""
    disorder: bool = False
    """True if answers overtake each other."""

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._times: deque[float] = deque()

    def refuse(
        self, action: str, retcode: int = 1200, wording: str = "it failed", data: Any = None, skip: int = 0
    ) -> None:
        """Plans a fault of the next such call, or of a later one."""
        self.planned.append(Planned(action, Failed(retcode, wording, data), skip=skip))

    def check_rate(self, action: str) -> None:
        if not self.sends_per_second or not action.startswith("send_"):
            return
        now = time.monotonic()
        while self._times and self._times[0] < now - 1:
            self._times.popleft()
        if len(self._times) >= self.sends_per_second:
            raise Failed(1429, "messages are sent too frequently", {"retry_after": 1})
        self._times.append(now)

    def repeats(self) -> bool:
        return self._random.random() < self.repeat

    def swaps(self) -> bool:
        return self._random.random() < self.swap

    async def wait(self) -> None:
        extra = self._random.random() * 0.02 if self.disorder else 0.0
        if self.delay_seconds or extra:
            await asyncio.sleep(self.delay_seconds + extra)
