"""Guarded statements and the unit that holds them.

A guard is the row count a statement expects. When one is not met, the whole unit is undone and `GuardFailed` says
which; so a unit never needs a read before it writes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from parlour_sdk.values import dataclass

from .schema import Table

Value = str | int | bytes
Row = dict[str, Any]
Receipt = Sequence[list[Row]]
"""For each statement of a unit, the rows it returned (empty where it asked for none)."""
Operator = Literal["=", "!=", "<", "<=", ">", ">=", "in", "starting", "holding"]

ANY: Final = None
"""The guard of a statement that may touch any number of rows."""


@dataclass(frozen=True, slots=True)
class Ref:
    """The value of `column` in the first row that an earlier statement of the same unit returned."""

    statement: int
    column: str


@dataclass(frozen=True, slots=True)
class Increment:
    """Adds to what the column holds."""

    by: int = 1


class Condition(NamedTuple):
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


def starting(prefix: str) -> _Test:
    return _Test("starting", prefix)


def holding(part: str) -> _Test:
    """Looks through every row that the other conditions leave; A to Z are found in either case."""
    return _Test("holding", part)


def where(**tests: Value | Ref | _Test) -> tuple[Condition, ...]:
    """Conditions that must all hold: `where(run_id=run, status=one_of("created", "running"))`."""
    return tuple(
        [
            Condition(column, test.operator, test.value) if type(test) is _Test else Condition(column, "=", test)
            for column, test in tests.items()
        ]
    )


@dataclass(frozen=True, slots=True)
class Upsert:
    """On a conflict over `key`, set these columns to the new row's values instead."""

    key: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Insert:
    """Adds a row. A conflict fails the guard, is ignored, or updates the row that is there."""

    table: Table
    values: Mapping[str, Value | Ref]
    conflict: Literal["fail", "ignore"] | Upsert = "fail"
    returning: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Update:
    table: Table
    values: Mapping[str, Value | Ref | Increment]
    where: tuple[Condition, ...]
    expect: int | None = 1
    returning: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Delete:
    table: Table
    where: tuple[Condition, ...]
    expect: int | None = 1
    returning: tuple[str, ...] = ()


Statement = Insert | Update | Delete


@dataclass(frozen=True, slots=True)
class Unit:
    """One step that happens wholly or not at all. The name tells logs, metrics and fault tests which step it is."""

    name: str
    statements: tuple[Statement, ...]
    may_wait: bool = False
    """Nobody is kept waiting by it, so it may come along with a unit that follows within milliseconds."""
    foreseen: Callable[[Receipt], None] | None = None
    """Told what the receipt will be, where that is known before it is durable, to prepare what follows. It may yet come
    to nothing, so nothing may leave the Host because of it.
    """
