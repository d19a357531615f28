"""Journal wrapper that removes secrets from reasons, errors, audit and trail before they are written.

Messages between users and runners stay unchanged.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from parlour.core.journal import Delete, Journal, PreparedCallback, Receipt, Row, Search, Select, Statement, Table, Unit
from parlour.core.redaction import Redactor

from .tables import AUDIT, EVENTS, JOBS, MEMORIES, OUTBOX, OUTCOMES, RUN_EVENTS, RUNS, TRAIL

REDACTED_COLUMNS: Final[Mapping[Table, tuple[str, ...]]] = {
    RUNS: ("error", "status_reason"),
    AUDIT: ("resource", "detail"),
    TRAIL: ("data",),
    OUTCOMES: ("reason",),
    OUTBOX: ("reason",),
    JOBS: ("error", "message"),
    RUN_EVENTS: ("data",),
    EVENTS: ("body",),
    MEMORIES: ("text",),
}
JSON_COLUMNS: Final = frozenset(("detail", "data", "body"))
"""Columns whose text is JSON and must stay valid JSON."""


class RedactedJournal:
    """Redacts the texts of units before it commits them."""

    def __init__(self, journal: Journal, redactor: Redactor) -> None:
        self._journal = journal
        self._redactor = redactor

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        for position, statement in enumerate(unit.statements):
            if statement.table not in REDACTED_COLUMNS:
                continue
            cleaned = self._redact(statement, REDACTED_COLUMNS[statement.table])
            if cleaned is not statement:
                unit = replace(
                    unit, statements=(*unit.statements[:position], cleaned, *unit.statements[position + 1 :])
                )
        return await self._journal.commit(unit, on_prepared)

    async def read(self, query: Select) -> list[Row]:
        return await self._journal.read(query)

    async def search(self, query: Search) -> list[Row]:
        return await self._journal.search(query)

    def _redact(self, statement: Statement, columns: tuple[str, ...]) -> Statement:
        if isinstance(statement, Delete) or not _is_redactable(statement.table, statement.values):
            return statement
        redacted: dict[str, Any] = {}
        for column in columns:
            text = statement.values.get(column)
            if text and isinstance(text, str):
                redacted_text = (self._redactor.redact_json if column in JSON_COLUMNS else self._redactor.redact)(text)
                if redacted_text != text:
                    redacted[column] = redacted_text
        if not redacted:
            return statement
        values: dict[str, Any] = {**statement.values, **redacted}
        return replace(statement, values=values)


def _is_redactable(table: Table, values: Mapping[str, Any]) -> bool:
    """Returns whether a row is to be redacted: of events and run events only those of the Host and failures.

    The others are large and contain messages of users and runners.
    """
    if table is EVENTS:
        return values.get("source") == "system"
    if table is RUN_EVENTS:
        return values.get("source") == "host" or values.get("type") == "run.failed"
    return True
