"""A read: one table, conditions that must all hold, an order and a limit."""

from typing import Literal

from parlour_sdk.values import dataclass

from .schema import Table
from .statements import Condition

Direction = Literal["ascending", "descending"]


@dataclass(frozen=True, slots=True)
class Select:
    table: Table
    where: tuple[Condition, ...] = ()
    columns: tuple[str, ...] = ()
    """Empty means all."""
    order: tuple[str, ...] = ()
    direction: Direction = "ascending"
    limit: int | None = None
    few: bool = False
    """By key, a handful of rows: may be answered on the spot, without a hand-over to another thread."""


@dataclass(frozen=True, slots=True)
class Search:
    """Rows whose text holds all the words, the best match first. `column` holds words with spaces between them."""

    table: Table
    column: str
    words: tuple[str, ...]
    where: tuple[Condition, ...] = ()
    limit: int = 10
