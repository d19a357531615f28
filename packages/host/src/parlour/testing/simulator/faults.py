"""Plans the faults of a simulated platform: refusals, silence, cuts, delays, repeats, disorder."""

import asyncio
import random
from collections import deque
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Refusal = TypeVar("Refusal", bound=Exception)
MAX_DISORDER_SECONDS = 0.02


@dataclass
class PlannedFault(Generic[Refusal]):
    """Describes a fault of the next call of this name."""

    call: str
    refusal: Refusal | None = None
    happens: bool = True
    """False if the call has no effect on the platform."""
    answers: bool = True
    cuts: bool = False
    """True if the connection is cut before the answer."""
    skip: int = 0
    """Number of calls before it that succeed."""


@dataclass
class SimulatorFaults(Generic[Refusal]):
    """Holds the faults that are planned. Subclasses add `refuse` in the platform's own form."""

    planned: deque[PlannedFault[Refusal]] = field(default_factory=deque, init=False)
    seed: int = 0
    delay_seconds: float = 0.0
    """Delay before each answer."""
    repeat: float = 0.0
    """Probability that an event is delivered a second time."""
    swap: float = 0.0
    """Probability that an event is overtaken by the next one."""
    disorder: bool = False
    """True if answers overtake each other."""

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def refuse_with(self, call: str, refusal: Refusal, times: int = 1, skip: int = 0) -> None:
        """Refuses the next such calls, or later ones."""
        self.planned.extend(PlannedFault(call, refusal, skip=skip) for _ in range(times))

    def cut(self, call: str, happens: bool = True) -> None:
        """Breaks the connection at the next such call."""
        self.planned.append(PlannedFault(call, happens=happens, answers=False, cuts=True))

    def stay_silent(self, call: str, happens: bool = True) -> None:
        """Leaves the next such call unanswered."""
        self.planned.append(PlannedFault(call, happens=happens, answers=False))

    def next_for(self, call: str) -> PlannedFault[Refusal] | None:
        """Removes and returns the fault of this call; None if it succeeds."""
        planned_fault = next((each for each in self.planned if each.call == call), None)
        if planned_fault is None:
            return None
        if planned_fault.skip:
            planned_fault.skip -= 1
            return None
        self.planned.remove(planned_fault)
        return planned_fault

    def repeats(self) -> bool:
        return self._random.random() < self.repeat

    def swaps(self) -> bool:
        return self._random.random() < self.swap

    async def wait(self) -> None:
        """Waits as long as the platform takes for an answer."""
        extra = self._random.random() * MAX_DISORDER_SECONDS if self.disorder else 0.0
        if self.delay_seconds or extra:
            await asyncio.sleep(self.delay_seconds + extra)
