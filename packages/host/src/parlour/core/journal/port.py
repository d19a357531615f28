"""The port to a database. Implementations: memory (parlour.testing), SQLite and PostgreSQL."""

from typing import Protocol

from .query import Search, Select
from .statements import PreparedCallback, Receipt, Ref, Row, Unit


class Journal(Protocol):
    """Commits units and reads rows."""

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        """Writes the unit; it is durable when this returns.

        Raises GuardFailed or StorageFailed, and then the unit was rolled back (see `StorageFailed.uncertain`).
        Cancelling the caller does not withdraw the unit: once submitted it is committed or fails as a whole.

        `on_prepared` is called with the receipt before the unit is durable, on databases that know it by then, to
        prepare the next steps. The commit may still fail, so the callback must not cause any effect outside the Host.
        """
        ...

    async def read(self, query: Select) -> list[Row]:
        """Returns rows. Sees at least every unit whose commit has returned."""
        ...

    async def search(self, query: Search) -> list[Row]:
        """Returns matching rows. Search terms are plain data, never query syntax."""
        ...


def resolve_ref(receipt: Receipt, value: int | Ref) -> int:
    """Returns the number itself, or the number that a Ref stands for in the receipt of the committed unit."""
    return value if isinstance(value, int) else int(receipt[value.statement][0][value.column])
