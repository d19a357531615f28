"""Describes tables for reads and writes. Migrations create them."""

from typing import Literal

from parlour_sdk.values import dataclass

ColumnKind = Literal["text", "integer", "blob"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column. Every column is NOT NULL, because a unique index treats NULLs as different."""

    name: str
    kind: ColumnKind = "text"


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns, key and indexes of a table.

    `sequence_column` names the key that the database numbers itself, without gaps and in commit order. On PostgreSQL
    this holds per slot, and so for everything that one Host writes (`stores/postgres/numbers.py`).
    """

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    unique: tuple[tuple[str, ...], ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()
    sequence_column: str | None = None

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)
