"""Pagination of lists: `limit` and `cursor` in, `items` and `next_cursor` out."""

from collections.abc import Callable, Iterable
from typing import Annotated, Literal, TypeVar

from fastapi import Query

from parlour.core.journal import Condition, Journal, Row, Select, Table, above, below, where
from parlour.core.journal.query import Direction
from parlour.core.pagination import Cursors

from .responses import PageResponse

Limit = Annotated[int, Query(ge=1, le=100, description="How many items at most")]
LongLimit = Annotated[int, Query(ge=1, le=1000, description="How many items at most")]
Cursor = Annotated[str | None, Query(max_length=512, description="`next_cursor` of the page before")]


Item = TypeVar("Item")

Order = Annotated[Literal["oldest", "newest"], Query(description="Which come first")]
DIRECTIONS: dict[str, Direction] = {"oldest": "ascending", "newest": "descending"}


def paginate(
    cursors: Cursors,
    listing: str,
    items: Iterable[Item],
    key: Callable[[Item], str],
    limit: int,
    cursor: str | None,
    newest: bool = False,
) -> tuple[list[Item], str | None]:
    """Returns one page of items in memory, in the order of a unique key, and the cursor of the next page."""
    position = None if cursor is None else str(cursors.decode(listing, cursor))
    ordered = sorted(items, key=key, reverse=newest)
    remaining = [
        each for each in ordered if position is None or (key(each) < position if newest else key(each) > position)
    ]
    next_cursor = cursors.encode(listing, key(remaining[limit - 1])) if len(remaining) > limit else None
    return remaining[:limit], next_cursor


class Pages:
    def __init__(self, journal: Journal, cursors: Cursors) -> None:
        self._journal = journal
        self._cursors = cursors

    async def page(
        self,
        table: Table,
        conditions: tuple[Condition, ...],
        key: str,
        view: Callable[[Row], Item],
        limit: int,
        cursor: str | None,
        direction: Direction = "descending",
    ) -> PageResponse[Item]:
        """Returns one page ordered by `key`, a column that is unique under the conditions. The cursor is bound to the
        conditions."""
        listing = f"{table.name}:{direction}:" + repr([(each.column, each.value) for each in conditions])
        if cursor is not None:
            position = self._cursors.decode(listing, cursor)
            position_condition = below(position) if direction == "descending" else above(position)
            conditions += where(**{key: position_condition})
        rows = await self._journal.read(Select(table, conditions, order=(key,), direction=direction, limit=limit + 1))
        has_more = len(rows) > limit
        next_cursor = self._cursors.encode(listing, rows[limit - 1][key]) if has_more else None
        return {"items": [view(row) for row in rows[:limit]], "next_cursor": next_cursor}
