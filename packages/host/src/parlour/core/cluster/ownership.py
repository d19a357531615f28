"""Decides which Host works on a part, and keeps a Host that lost a part from acting for it.

The core asks an `Ownership` in two ways. Units that act for a part include `guards`, which fail them in the database
after the part has moved to another Host. Right before an effect outside the Host, `effect_gate` makes a Host wait that
can't be sure whether it still owns anything, such as one whose process was paused. `SoleOwner` is the implementation of
a Host that has its database to itself: it owns everything, and adds neither statements nor waits.
"""

from collections.abc import Awaitable
from typing import Protocol

from parlour.core.journal import Statement
from parlour.core.model.ids import PartId


class PartLost(Exception):
    """Raised when another Host owns the part by now; nothing of the unit was committed."""


class Ownership(Protocol):
    """Knows the parts of this Host."""

    @property
    def is_sole(self) -> bool:
        """True if no other Host can own a part while this one runs. Then guards and gates are always empty."""
        ...

    def owns(self, part: PartId) -> bool:
        """Returns whether work of a part may begin on this Host."""
        ...

    def holds(self, part: PartId) -> bool:
        """Returns whether this Host may still act for a part: it owns it, or finishes its work to give it away."""
        ...

    def epoch(self, part: PartId) -> int:
        """Returns how often the part has changed its owner; it is part of the guards."""
        ...

    def guards(self, part: PartId) -> tuple[Statement, ...]:
        """Returns statements for a unit that acts for a part. They fail their guard if the part has moved."""
        ...

    def effect_gate(self) -> Awaitable[None] | None:
        """Returns None if an effect outside may happen now. Otherwise returns what to await before the effect; it
        raises PartLost if the effect must not happen.
        """
        ...


class SoleOwner:
    """Owns every part, without asking anything."""

    is_sole = True

    def owns(self, part: PartId) -> bool:
        return True

    def holds(self, part: PartId) -> bool:
        return True

    def epoch(self, part: PartId) -> int:
        return 0

    def guards(self, part: PartId) -> tuple[Statement, ...]:
        return ()

    def effect_gate(self) -> Awaitable[None] | None:
        return None
