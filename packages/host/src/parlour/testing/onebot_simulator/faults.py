"""What goes wrong at the simulated implementation, and when: refusals, silence, cuts, delays, repeats, disorder."""

import asyncio
import random
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from .world import Failed


@dataclass
class Planned:
    """For the next call whose action begins with this."""

    action: str
    refusal: Failed | None = None
    answers: bool = True
    happens: bool = True
    cuts: bool = False
    """The connection is cut before the answer."""
    skip: int = 0
    """So many calls before it go well."""


@dataclass
class Faults:
    seed: int = 0
    delay_seconds: float = 0.0
    """Before each answer."""
    sends_per_second: float = 0.0
    """More are refused as too frequent; 0 for no limit."""
    repeat: float = 0.0
    """How likely an event is delivered a second time."""
    swap: float = 0.0
    """How likely an event is overtaken by the next one."""
    disorder: bool = False
    """Whether answers overtake each other."""
    planned: deque[Planned] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._times: deque[float] = deque()

    def refuse(
        self, action: str, retcode: int = 1200, wording: str = "it failed", data: Any = None, skip: int = 0
    ) -> None:
        """The next such call, or one after it."""
        self.planned.append(Planned(action, Failed(retcode, wording, data), skip=skip))

    def stay_silent(self, action: str, happens: bool = True) -> None:
        """The next such call is never answered."""
        self.planned.append(Planned(action, answers=False, happens=happens))

    def cut(self, action: str, happens: bool = True) -> None:
        """The connection breaks at the next such call."""
        self.planned.append(Planned(action, answers=False, happens=happens, cuts=True))

    def next_for(self, action: str) -> Planned | None:
        found = next((each for each in self.planned if action.startswith(each.action)), None)
        if found is None:
            return None
        if found.skip:
            found.skip -= 1
            return None
        self.planned.remove(found)
        return found

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
