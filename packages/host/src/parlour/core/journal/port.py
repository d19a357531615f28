"""The port to a database. Implementations: memory (parlour.testing), SQLite and, later, PostgreSQL."""

from collections.abc import Sequence
from typing import Protocol

from .query import Select
from .statements import Row, Unit

Receipt = Sequence[list[Row]]
"""For each statement of the unit, the rows it returned (empty where it asked for none)."""


class Journal(Protocol):
    async def commit(self, unit: Unit) -> Receipt:
        """Durable when it returns. Raises GuardFailed or StorageFailed, and then nothing of the unit happened.

        Cancelling the caller does not take the unit back: once handed over it is carried out or fails as a whole.
        """
        ...

    async def read(self, query: Select) -> list[Row]:
        """Sees at least everything whose commit has returned."""
        ...
