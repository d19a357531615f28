"""Describes retention per table: which rows are old, which dependent rows are deleted, and which rows must stay."""

from collections.abc import Iterable
from typing import Literal, get_args

from parlour.core.journal import ANY, Condition, Delete, Journal, Row, Select, Statement, Table, Update, one_of, where
from parlour_sdk.protocol.history import HEARD
from parlour_sdk.values import dataclass

from .ledger import ACTIVE_STATUSES, RunStatus
from .tables import (
    APPROVALS,
    ARTIFACTS,
    AUDIT,
    CALLS,
    EVENTS,
    FEEDBACK,
    INBOX,
    MODEL_CALLS,
    OUTBOX,
    OUTCOMES,
    RUN_EVENTS,
    RUNS,
    TRAIL,
    TRANSCRIPT,
)

KNOWLEDGE_SOURCE = "knowledge"
"""Source of artifacts that are files of knowledge bases, which stay as long as the file does."""
SKILL_SOURCE = "skill"
"""Source of artifacts that are packages of skills, which stay as long as the skill does."""
PeriodName = Literal["events", "artifacts", "audit", "model_calls", "heard"]
FINAL_STATUSES = tuple(status for status in get_args(RunStatus) if status not in ACTIVE_STATUSES)


@dataclass(frozen=True, slots=True)
class Sweep:
    """Retention of one table, whose rows are read by a key that grows with time."""

    table: Table
    key: str
    period: PeriodName
    dependents: tuple[tuple[Table, str], ...] = ()
    """Dependent tables, each with the column that refers to this key."""
    inbox_reference: tuple[str, str] | None = None
    """A column of the inbox and a column of this table: a row stays while the inbox refers to it."""
    final_values: tuple[str, tuple[str, ...]] | None = None
    """A column and its final values; rows with other values stay."""
    kept_values: tuple[str, tuple[str, ...]] | None = None
    """A column and values; rows with one of them stay."""
    keep_newest: bool = False
    """True if the newest row stays, because the numbering of new rows continues from it."""

    def is_final(self, row: Row) -> bool:
        if self.kept_values is not None and row[self.kept_values[0]] in self.kept_values[1]:
            return False
        return self.final_values is None or row[self.final_values[0]] in self.final_values[1]

    @property
    def columns(self) -> tuple[str, ...]:
        extra_columns = {self.inbox_reference[1]} if self.inbox_reference else set()
        extra_columns |= {self.final_values[0]} if self.final_values else set()
        extra_columns |= {self.kept_values[0]} if self.kept_values else set()
        return (self.key, *sorted(extra_columns - {self.key, "created_at"}), "created_at")

    async def removable(self, journal: Journal, rows: list[Row]) -> list[Row]:
        """Returns those of the rows that are no longer needed."""
        rows = [row for row in rows if self.is_final(row)]
        if rows and self.inbox_reference is not None:
            column, own_column = self.inbox_reference
            inbox_rows = await journal.read(Select(INBOX, _in_inbox(column, own_column, rows), (column,)))
            needed = {row[column] for row in inbox_rows}
            rows = [row for row in rows if row[own_column] not in needed]
        if rows and self.keep_newest:
            last = await journal.read(Select(self.table, (), (self.key,), (self.key,), "descending", 1))
            rows = [row for row in rows if row[self.key] != last[0][self.key]]
        return rows

    def statements(self, rows: list[Row]) -> list[Statement]:
        """Builds the statements that delete the rows.

        They fail their guard if the inbox refers to one of the rows in the meantime, or one was already deleted.
        """
        keys = one_of(*(row[self.key] for row in rows))
        final = where(**{self.final_values[0]: one_of(*self.final_values[1])}) if self.final_values else ()
        result: list[Statement] = [Delete(self.table, where(**{self.key: keys}) + final, expect=len(rows))]
        result += [Delete(table, where(**{column: keys}), expect=ANY) for table, column in self.dependents]
        if self.inbox_reference is not None:
            column, own_column = self.inbox_reference
            result.insert(0, Update(INBOX, {"attempts": 0}, _in_inbox(column, own_column, rows), expect=0))
        return result


def _in_inbox(column: str, own_column: str, rows: Iterable[Row]) -> tuple[Condition, ...]:
    return where(**{column: one_of(*{row[own_column] for row in rows})})


SWEEPS: tuple[Sweep, ...] = (
    Sweep(TRANSCRIPT, "transcript_id", "events", inbox_reference=("lane", "conversation_id")),
    Sweep(TRANSCRIPT, "transcript_id", "heard", final_values=("item_type", (HEARD,))),
    Sweep(OUTBOX, "seq", "events", final_values=("state", ("sent", "failed", "expired")), keep_newest=True),
    Sweep(
        RUNS,
        "run_id",
        "events",
        dependents=((RUN_EVENTS, "run_id"), (CALLS, "run_id"), (MODEL_CALLS, "run_id"), (FEEDBACK, "run_id")),
        inbox_reference=("run_id", "run_id"),
        final_values=("status", FINAL_STATUSES),
        keep_newest=True,
    ),
    Sweep(
        EVENTS,
        "seq",
        "events",
        dependents=((OUTCOMES, "event_seq"), (TRAIL, "event_seq")),
        inbox_reference=("event_seq", "seq"),
    ),
    Sweep(
        ARTIFACTS,
        "artifact_id",
        "artifacts",
        inbox_reference=("lane", "conversation_id"),
        kept_values=("source", (KNOWLEDGE_SOURCE, SKILL_SOURCE)),
    ),
    Sweep(APPROVALS, "approval_id", "events", final_values=("status", ("approved", "denied", "expired"))),
    Sweep(AUDIT, "seq", "audit"),
    Sweep(MODEL_CALLS, "call_id", "model_calls"),
)
