"""Describes reads: one table, conditions that must all hold, an order and a limit."""

from typing import Literal

from parlour_sdk.values import dataclass

from .schema import Table
from .statements import Condition

Direction = Literal["ascending", "descending"]


@dataclass(frozen=True, slots=True)
class Select:
    """Reads rows of one table."""

    table: Table
    where: tuple[Condition, ...] = ()
    columns: tuple[str, ...] = ()
    """Columns to return; empty means all."""
    order: tuple[str, ...] = ()
    direction: Direction = "ascending"
    limit: int | None = None
    point_read: bool = False
    """True for a read of a few rows by key, which may be executed directly instead of in another thread."""


@dataclass(frozen=True, slots=True)
class Search:
    """Finds rows whose text contains all words, the best match first. `column` has words separated by spaces."""

    table: Table
    column: str
    words: tuple[str, ...]
    where: tuple[Condition, ...] = ()
    limit: int = 10
    columns: tuple[str, ...] = ()
    """Columns to return; empty means all."""
    ranked: bool = True
    """False for any matches in any order, which need not be compared with all others."""
