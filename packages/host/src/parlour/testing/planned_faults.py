"""Plans faults for the next calls of a simulated platform. Each simulator has its own form of refusal."""

from collections import deque
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Refusal = TypeVar("Refusal", bound=Exception)


@dataclass
class Planned(Generic[Refusal]):
    """Describes a fault of the next call of this name."""

    call: str
    refusal: Refusal | None = None
    happens: bool = True
    answers: bool = True
    cuts: bool = False
    """True if the connection is cut before the answer."""
    skip: int = 0
    """Number of calls before it that succeed."""


@dataclass
class PlannedFaults(Generic[Refusal]):
    planned: deque[Planned[Refusal]] = field(default_factory=deque, init=False)

    def cut(self, call: str, happens: bool = True) -> None:
        """Breaks the connection at the next such call."""
        self.planned.append(Planned(call, happens=happens, answers=False, cuts=True))

    def stay_silent(self, call: str, happens: bool = True) -> None:
        """Leaves the next such call unanswered."""
        self.planned.append(Planned(call, happens=happens, answers=False))

    def next_for(self, call: str) -> Planned[Refusal] | None:
        found = next((each for each in self.planned if each.call == call), None)
        if found is None:
            return None
        if found.skip:
            found.skip -= 1
            return None
        self.planned.remove(found)
        return found
