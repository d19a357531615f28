"""What a table is, for whoever writes or reads one. Creating tables is the migrations' business."""

from typing import Literal

from parlour_sdk.values import dataclass

Kind = Literal["text", "integer", "blob"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column; every one is NOT NULL, since uniqueness over NULL deduplicates nothing."""

    name: str
    kind: Kind = "text"


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table's shape. `counted` names the key that the database numbers itself, gap-free and in commit order."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    unique: tuple[tuple[str, ...], ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()
    counted: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)
