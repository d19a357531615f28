"""The port to a database. Implementations: memory (parlour.testing), SQLite and PostgreSQL."""

from typing import Protocol

from .query import Search, Select
from .statements import Receipt, Ref, Row, Unit


class Journal(Protocol):
    async def commit(self, unit: Unit) -> Receipt:
        """Durable when it returns. Raises GuardFailed or StorageFailed, and then nothing of the unit happened.

        Cancelling the caller does not take the unit back: once handed over it is carried out or fails as a whole.
        """
        ...

    async def read(self, query: Select) -> list[Row]:
        """Sees at least everything whose commit has returned."""
        ...

    async def search(self, query: Search) -> list[Row]:
        """All of a matching row's columns. The words are data: whatever they hold, they are looked for as they are."""
        ...


def resolved(receipt: Receipt, value: int | Ref) -> int:
    """A number that was known, or that the unit found out."""
    return value if isinstance(value, int) else int(receipt[value.statement][0][value.column])
