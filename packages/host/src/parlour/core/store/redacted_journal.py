"""Around the journal: reasons, errors, audit and trail are written without secrets.

What people and runners say to each other is theirs and stays as it is.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from parlour.core.journal import Delete, Journal, Receipt, Row, Search, Select, Statement, Table, Unit
from parlour.core.redaction import Redactor

from .tables import AUDIT, EVENTS, OUTBOX, OUTCOMES, RUN_EVENTS, RUNS, TRAIL

CLEANED: Final[Mapping[Table, tuple[str, ...]]] = {
    RUNS: ("error", "status_reason"),
    AUDIT: ("resource", "detail"),
    TRAIL: ("data",),
    OUTCOMES: ("reason",),
    OUTBOX: ("reason",),
    RUN_EVENTS: ("data",),
    EVENTS: ("body",),
}
JSON: Final = frozenset(("detail", "data", "body"))
"""Columns whose text is JSON, and must be read as such again."""


class RedactedJournal:
    def __init__(self, journal: Journal, redactor: Redactor) -> None:
        self._journal = journal
        self._redactor = redactor

    async def commit(self, unit: Unit) -> Receipt:
        for position, statement in enumerate(unit.statements):
            if statement.table not in CLEANED:
                continue
            cleaned = self._cleaned(statement, CLEANED[statement.table])
            if cleaned is not statement:
                unit = replace(
                    unit, statements=(*unit.statements[:position], cleaned, *unit.statements[position + 1 :])
                )
        return await self._journal.commit(unit)

    async def read(self, query: Select) -> list[Row]:
        return await self._journal.read(query)

    async def search(self, query: Search) -> list[Row]:
        return await self._journal.search(query)

    def _cleaned(self, statement: Statement, columns: tuple[str, ...]) -> Statement:
        if isinstance(statement, Delete) or not _the_hosts_own(statement.table, statement.values):
            return statement
        changed: dict[str, Any] = {}
        for column in columns:
            text = statement.values.get(column)
            if text and isinstance(text, str):
                clean = (self._redactor.clean_json if column in JSON else self._redactor.clean)(text)
                if clean != text:
                    changed[column] = clean
        if not changed:
            return statement
        values: dict[str, Any] = {**statement.values, **changed}
        return replace(statement, values=values)


def _the_hosts_own(table: Table, values: Mapping[str, Any]) -> bool:
    """Of events and of what runs did, those that tell of trouble; the others are large and somebody's words."""
    if table is EVENTS:
        return values.get("source") == "system"
    if table is RUN_EVENTS:
        return values.get("source") == "host" or values.get("type") == "run.failed"
    return True
