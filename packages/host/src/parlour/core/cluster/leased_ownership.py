"""The parts that a Host of a cluster owns, as long as its lease is valid."""

from collections.abc import Awaitable, Collection

from parlour.core.journal import Statement
from parlour.core.model.ids import PartId

from . import owner_rows
from .leases import HostLease


class LeasedOwnership:
    """Ownership of a Host that shares its database with others."""

    is_sole = False

    def __init__(self, lease: HostLease) -> None:
        self._lease = lease
        self._epochs: dict[PartId, int] = {}
        self._draining: set[PartId] = set()

    @property
    def is_fenced(self) -> bool:
        """True if this Host can do nothing any more, and has to end."""
        return self._lease.is_lost

    @property
    def parts(self) -> Collection[PartId]:
        """The parts that this Host may commit for, also those that it drains."""
        return self._epochs.keys()

    def add(self, part: PartId, epoch: int) -> None:
        """Records a part that this Host has taken."""
        self._epochs[part] = epoch

    def begin_drain(self, part: PartId) -> None:
        """Lets no new work begin for a part; work in progress can still be committed."""
        self._draining.add(part)

    def remove(self, part: PartId) -> None:
        """Forgets a part before it is released."""
        self._epochs.pop(part, None)
        self._draining.discard(part)

    def owns(self, part: PartId) -> bool:
        return part in self._epochs and part not in self._draining and not self._lease.is_lost

    def holds(self, part: PartId) -> bool:
        return part in self._epochs and not self._lease.is_lost

    def epoch(self, part: PartId) -> int:
        return self._epochs.get(part, 0)

    def guards(self, part: PartId) -> tuple[Statement, ...]:
        epoch = self._epochs.get(part)
        return (owner_rows.guard_that_fails(part) if epoch is None else owner_rows.guard(part, epoch),)

    def effect_gate(self) -> Awaitable[None] | None:
        return self._lease.effect_gate()
