"""Lists: `limit` and `cursor` in, `items` and `next_cursor` out."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Query

from parlour.core.cursors import Cursors
from parlour.core.journal import Condition, Journal, Row, Select, Table, above, below, where
from parlour.core.journal.query import Direction

Limit = Annotated[int, Query(ge=1, le=100, description="How many items at most")]
Cursor = Annotated[str | None, Query(max_length=512, description="`next_cursor` of the page before")]


class Pages:
    def __init__(self, journal: Journal, cursors: Cursors) -> None:
        self._journal = journal
        self._cursors = cursors

    async def page(
        self,
        table: Table,
        conditions: tuple[Condition, ...],
        key: str,
        view: Callable[[Row], dict[str, Any]],
        limit: int,
        cursor: str | None,
        direction: Direction = "descending",
    ) -> dict[str, Any]:
        """One page by `key`, a column that is unique under the conditions. The cursor is bound to those."""
        listing = f"{table.name}:{direction}:" + repr([(each.column, each.value) for each in conditions])
        if cursor is not None:
            position = self._cursors.decode(listing, cursor)
            beyond = below(position) if direction == "descending" else above(position)
            conditions += where(**{key: beyond})
        rows = await self._journal.read(Select(table, conditions, order=(key,), direction=direction, limit=limit + 1))
        more = len(rows) > limit
        next_cursor = self._cursors.encode(listing, rows[limit - 1][key]) if more else None
        return {"items": [view(row) for row in rows[:limit]], "next_cursor": next_cursor}
