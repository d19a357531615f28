"""Provides short functions for rows, units and reads in the tests of a journal."""

from typing import Any, ClassVar

from parlour.core.journal import Insert, Journal, Receipt, Row, Select, Statement, Table, Unit, where
from parlour.core.store.tables import EVENTS, META, TRANSCRIPT

EMPTY: dict[str, Any] = {"text": "", "integer": 0, "blob": b""}


class NumberedRows:
    """Knows the numbers that a journal gives to the rows of a table."""

    number_step: ClassVar[int] = 1
    """Difference between two consecutive numbers, which is also the first number."""

    def number(self, position: int) -> int:
        """Returns the number of a row by its position, counted from 1."""
        return position * self.number_step

    def numbers(self, count: int) -> list[int]:
        """Returns the numbers of the first rows."""
        return [self.number(position) for position in range(1, count + 1)]


def filled(table: Table, **values: Any) -> dict[str, Any]:
    """Returns a row for an insert: the given values, and empty values in all other columns."""
    row = {column.name: EMPTY[column.kind] for column in table.columns if column.name != table.sequence_column}
    return {**row, **values}


def insert(table: Table, **values: Any) -> Insert:
    return Insert(table, filled(table, **values))


def event(event_id: str) -> Insert:
    return Insert(EVENTS, filled(EVENTS, event_id=event_id), returning=("seq",))


def meta(name: str, value: str = "") -> Insert:
    return insert(META, name=name, value=value)


async def commit(journal: Journal, *statements: Statement) -> Receipt:
    return await journal.commit(Unit("test", statements))


async def contents(journal: Journal, table: Table) -> list[Row]:
    return await journal.read(Select(table, order=table.key))


async def names(journal: Journal, **tests: Any) -> list[str]:
    rows = await journal.read(Select(META, where(**tests), ("name",), order=("name",)))
    return [row["name"] for row in rows]


def searchable(transcript_id: str, words: str, **values: Any) -> Insert:
    """Returns an item of a conversation of its own."""
    fields = {"transcript_id": transcript_id, "conversation_id": transcript_id, "words": words}
    return insert(TRANSCRIPT, **fields, **values)
