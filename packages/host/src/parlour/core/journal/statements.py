"""Guarded statements, and the unit that contains them.

A guard is the number of rows that a statement expects to affect. If one does not hold, the whole unit is rolled back
and `GuardFailed` names the statement; so a unit never needs to read before it writes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from parlour_sdk.values import dataclass

from .schema import Table

Value = str | int | bytes
Row = dict[str, Any]
Receipt = Sequence[list[Row]]
"""Rows returned by each statement of a unit, in order (empty for a statement without `returning`)."""
PreparedCallback = Callable[[Receipt], None]
"""Called with the receipt that a unit will have, before the unit is durable."""
Operator = Literal["=", "!=", "<", "<=", ">", ">=", "in", "starting", "holding"]

ANY: Final = None
"""Guard of a statement that may affect any number of rows."""


@dataclass(frozen=True, slots=True)
class Ref:
    """Stands for the value of `column` in the first row that an earlier statement of the same unit returned."""

    statement: int
    column: str


@dataclass(frozen=True, slots=True)
class Increment:
    """Adds a number to the column's current value."""

    by: int = 1


class Condition(NamedTuple):
    """Comparison of a column with a value."""

    column: str
    operator: Operator
    value: Any


class _Test(NamedTuple):
    operator: Operator
    value: Any


def one_of(*values: Value) -> _Test:
    return _Test("in", values)


def other_than(value: Value) -> _Test:
    return _Test("!=", value)


def above(value: Value) -> _Test:
    return _Test(">", value)


def at_least(value: Value) -> _Test:
    return _Test(">=", value)


def below(value: Value) -> _Test:
    return _Test("<", value)


def at_most(value: Value) -> _Test:
    return _Test("<=", value)


def starts_with(prefix: str) -> _Test:
    return _Test("starting", prefix)


def contains(part: str) -> _Test:
    """Tests whether a text contains `part`; the case of A to Z is ignored.

    It scans every row that passes the other conditions.
    """
    return _Test("holding", part)


def where(**tests: Value | Ref | _Test) -> tuple[Condition, ...]:
    """Builds conditions that must all hold: `where(run_id=run, status=one_of("created", "running"))`."""
    return tuple(
        [
            Condition(column, test.operator, test.value) if type(test) is _Test else Condition(column, "=", test)
            for column, test in tests.items()
        ]
    )


@dataclass(frozen=True, slots=True)
class Upsert:
    """Sets these columns of the existing row to the new row's values if an insert conflicts over `key`."""

    key: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Insert:
    """Adds a row. A conflict fails the guard, is ignored, or updates the existing row."""

    table: Table
    values: Mapping[str, Value | Ref]
    conflict: Literal["fail", "ignore"] | Upsert = "fail"
    returning: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Update:
    """Changes the rows that meet the conditions; `expect` is the guard."""

    table: Table
    values: Mapping[str, Value | Ref | Increment]
    where: tuple[Condition, ...]
    expect: int | None = 1
    returning: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Delete:
    """Deletes the rows that meet the conditions; `expect` is the guard."""

    table: Table
    where: tuple[Condition, ...]
    expect: int | None = 1
    returning: tuple[str, ...] = ()


Statement = Insert | Update | Delete


@dataclass(frozen=True, slots=True)
class Unit:
    """Statements that are committed as a whole or not at all. Logs, metrics and fault tests identify it by its name."""

    name: str
    statements: tuple[Statement, ...]
    can_batch: bool = False
    """True if no caller depends on its latency, so it may be batched with a unit that follows within milliseconds."""
