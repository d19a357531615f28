"""What a simulated platform was told to do wrong at its next calls. How it says no is each simulator's own."""

from collections import deque
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Refusal = TypeVar("Refusal", bound=Exception)


@dataclass
class Planned(Generic[Refusal]):
    """For the next call of this name."""

    call: str
    refusal: Refusal | None = None
    happens: bool = True
    answers: bool = True
    cuts: bool = False
    """The connection is cut before the answer."""
    skip: int = 0
    """So many calls before it go well."""


@dataclass
class PlannedFaults(Generic[Refusal]):
    planned: deque[Planned[Refusal]] = field(default_factory=deque, init=False)

    def cut(self, call: str, happens: bool = True) -> None:
        """The connection breaks at the next such call."""
        self.planned.append(Planned(call, happens=happens, answers=False, cuts=True))

    def stay_silent(self, call: str, happens: bool = True) -> None:
        """The next such call is never answered."""
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
