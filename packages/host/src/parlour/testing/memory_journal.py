"""The journal in memory: it has the same outcomes as SQLite, without threads, files or time.

Committed data is in a MemoryDatabase and survives the journal, as a file survives a Host that
crashed. A statement that is wrong in itself (columns, types) raises an AssertionError. Rows without
an `order` come in no promised order, as in any database.
"""

import asyncio
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, assert_never

from parlour.core.journal import (
    Condition,
    Delete,
    GuardFailed,
    Increment,
    Insert,
    PreparedCallback,
    Receipt,
    Ref,
    Row,
    Search,
    Select,
    Statement,
    StorageFailed,
    Table,
    Unit,
    Update,
    Upsert,
)

Columns = tuple[str, ...]
Values = tuple[Any, ...]

_KINDS: dict[str, type] = {"text": str, "integer": int, "blob": bytes}
_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda value, options: value in options,
    "starting": str.startswith,
    "holding": lambda value, part: part.lower() in value.lower(),
}


class MemoryJournal:
    """Connects a Host to a MemoryDatabase. Discard it to simulate a crash."""

    def __init__(self, database: "MemoryDatabase | None" = None) -> None:
        self.database = MemoryDatabase() if database is None else database

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        # A unit is carried out at once and acknowledged a turn of the loop later: a caller cancelled in between has
        # committed.
        try:
            receipt = self.database.commit(unit)
            if on_prepared is not None:
                on_prepared(receipt)
            return receipt
        finally:
            await asyncio.sleep(0)

    async def read(self, query: Select) -> list[Row]:
        rows = self.database.read(query)
        await asyncio.sleep(0)  # other callers may write before this one sees the answer, as with any database
        return rows

    async def search(self, query: Search) -> list[Row]:
        rows = self.database.search(query)
        await asyncio.sleep(0)
        return rows


class MemoryDatabase:
    """Holds the durable data."""

    def __init__(self) -> None:
        self._tables: dict[str, _Rows] = {}

    def commit(self, unit: Unit) -> Receipt:
        for index, statement in enumerate(unit.statements):
            _require_statement(statement, unit.statements[:index])
        attempt = _Attempt(self, unit)
        try:
            return attempt.carry_out()
        except (GuardFailed, StorageFailed):
            attempt.undo()
            raise

    def read(self, query: Select) -> list[Row]:
        _require_query(query)
        conditions = [(each.column, each.operator, _storable(each.value)) for each in query.where]
        matches = list(self.rows(query.table).matching(conditions))
        if query.order:
            matches.sort(key=lambda row: _values(row, query.order), reverse=query.direction == "descending")
        return [_part(row, query.columns or query.table.column_names) for row in matches[: query.limit]]

    def search(self, query: Search) -> list[Row]:
        """Ranks a match higher if the text around the words is shorter."""
        candidates = self.read(Select(query.table, query.where, order=query.table.key, direction="descending"))
        texts = [(str(row[query.column]).split(" "), row) for row in candidates]
        matches = [(len(text), row) for text, row in texts if set(query.words) <= set(text)]
        if query.ranked:
            matches.sort(key=lambda each: each[0])
        return [_part(row, query.columns or query.table.column_names) for _, row in matches[: query.limit]]

    def rows(self, table: Table) -> "_Rows":
        table_rows = self._tables.get(table.name)
        if table_rows is None:
            table_rows = self._tables[table.name] = _Rows(table)
        return table_rows


class _Attempt:
    """Represents one unit in progress, and how to undo it."""

    def __init__(self, database: MemoryDatabase, unit: Unit) -> None:
        self._database = database
        self._unit = unit
        self._receipt: list[list[Row]] = []
        self._applied: list[tuple[_Rows, Row | None, Row | None]] = []

    def carry_out(self) -> Receipt:
        for statement in self._unit.statements:
            touched = self._execute(statement)
            self._receipt.append([_part(row, statement.returning) for row in touched] if statement.returning else [])
        return self._receipt

    def undo(self) -> None:
        for rows, before, after in reversed(self._applied):
            rows.replace(after, before)
            if before is None and rows.table.sequence_column:
                rows.last_number -= 1

    def _execute(self, statement: Statement) -> list[Row]:
        rows = self._database.rows(statement.table)
        match statement:
            case Insert():
                return self._insert(rows, statement)
            case Update():
                changes = {name: self._resolved(value) for name, value in statement.values.items()}
                return [
                    self._put(rows, row, _with_changes(row, changes)) for row in self._matching_rows(rows, statement)
                ]
            case Delete():
                targets = self._matching_rows(rows, statement)
                for row in targets:
                    self._replace(rows, row, None)
                return targets
            case _:
                assert_never(statement)

    def _insert(self, rows: "_Rows", statement: Insert) -> list[Row]:
        row = {name: self._resolved(value) for name, value in statement.values.items()}
        sequence_column = rows.table.sequence_column
        if sequence_column is not None:
            row[sequence_column] = rows.last_number + 1
        match statement.conflict:
            case "fail":
                pass
            case "ignore":
                if rows.conflicts(row):
                    return []
            case Upsert(key, columns):
                existing = rows.holder(key, row)
                if existing is not None:
                    return [self._put(rows, existing, {**existing, **_part(row, columns)})] if columns else []
        self._put(rows, None, row)
        if sequence_column is not None:
            rows.last_number += 1
        return [row]

    def _matching_rows(self, rows: "_Rows", statement: Update | Delete) -> list[Row]:
        conditions = [(each.column, each.operator, self._resolved(each.value)) for each in statement.where]
        matches = list(rows.matching(conditions))
        if statement.expect is not None and len(matches) != statement.expect:
            raise self._guard_failed()
        return matches

    def _put(self, rows: "_Rows", before: Row | None, after: Row) -> Row:
        if rows.conflicts(after, apart_from=before):
            raise self._guard_failed()
        self._replace(rows, before, after)
        return after

    def _replace(self, rows: "_Rows", before: Row | None, after: Row | None) -> None:
        rows.replace(before, after)
        self._applied.append((rows, before, after))

    def _resolved(self, value: Any) -> Any:
        if type(value) is not Ref:
            return _storable(value)
        rows = self._receipt[value.statement]
        if not rows:  # the referenced statement touched nothing, so this one can't either
            raise self._guard_failed()
        return rows[0][value.column]

    def _guard_failed(self) -> GuardFailed:
        return GuardFailed(self._unit.name, len(self._receipt))


class _Rows:
    """Holds one table's rows. They are replaced, never changed, so that an earlier one can be restored."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.last_number = 0
        """The last number of the counted column."""
        self._all: dict[Values, Row] = {}
        self._constraints = (table.key, *table.unique)
        self._declared = (*self._constraints, *table.indexes)
        self._lookups: dict[Columns, dict[Values, dict[Values, Row]]] = {columns: {} for columns in self._constraints}
        self._routes: dict[Columns, Columns] = {}

    def holder(self, constraint: Columns, row: Row) -> Row | None:
        """Returns the row that holds the unique values of `row`."""
        for existing in self._lookups[constraint].get(_values(row, constraint), {}).values():
            return existing
        return None

    def conflicts(self, row: Row, apart_from: Row | None = None) -> bool:
        holders = (self.holder(constraint, row) for constraint in self._constraints)
        return any(holder is not None and holder is not apart_from for holder in holders)

    def replace(self, before: Row | None, after: Row | None) -> None:
        if before is not None:
            key = _values(before, self.table.key)
            del self._all[key]
            for columns, lookup in self._lookups.items():
                values = _values(before, columns)
                del lookup[values][key]
                if not lookup[values]:
                    del lookup[values]
        if after is not None:
            key = _values(after, self.table.key)
            self._all[key] = after
            for columns, lookup in self._lookups.items():
                lookup.setdefault(_values(after, columns), {})[key] = after

    def matching(self, conditions: Sequence[tuple[str, str, Any]]) -> Iterable[Row]:
        for row in self._candidates(conditions):
            if all(_TESTS[test](row[column], value) for column, test, value in conditions):
                yield row

    def _candidates(self, conditions: Sequence[tuple[str, str, Any]]) -> Iterable[Row]:
        """Returns the candidate rows: by the best declared key or index for the columns with known values."""
        choices: dict[str, Iterable[Any]] = {}
        for column, test, value in conditions:
            if test == "=":
                choices[column] = (value,)
            elif test == "in":
                choices[column] = dict.fromkeys(value)
        columns = self._route(tuple(choices))
        if not columns:
            return self._all.values()
        lookup = self._lookups[columns]
        combinations = product(*(choices[column] for column in columns))
        return (row for values in combinations for row in lookup.get(values, {}).values())

    def _route(self, bound_columns: Columns) -> Columns:
        route = self._routes.get(bound_columns)
        if route is None:
            prefixes = (columns[:length] for columns in self._declared for length in range(1, len(columns) + 1))
            route = max((prefix for prefix in prefixes if set(prefix) <= set(bound_columns)), key=len, default=())
            self._routes[bound_columns] = route
            if route and route not in self._lookups:
                lookup = self._lookups[route] = {}
                for key, row in self._all.items():
                    lookup.setdefault(_values(row, route), {})[key] = row
        return route


def _values(row: Row, columns: Columns) -> Values:
    return tuple(map(row.__getitem__, columns))


def _part(row: Row, columns: Columns) -> Row:
    return {column: row[column] for column in columns}


def _with_changes(row: Row, changes: Mapping[str, Any]) -> Row:
    changed = dict(row)
    for name, value in changes.items():
        changed[name] = _storable(row[name] + value.by) if type(value) is Increment else value
    return changed


def _storable(value: Any) -> Any:
    """Returns the value as a database returns it. It refuses a value that no database can hold
    although its type is right.
    """
    if type(value) is str and value.isascii():
        return value
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise StorageFailed("storage_failed", f"The number {value} does not fit into 64 bits.")
        return int(value)
    if isinstance(value, str):
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise StorageFailed("storage_failed", "A text holds half a surrogate pair, which is no character.")
        return str.__str__(value)
    if isinstance(value, tuple):
        return tuple(map(_storable, value))
    return value


_known_shapes: set[Any] = set()
"""Shapes of inserts and updates that were found valid, so that each is checked once."""


@cache
def _kinds(table: Table) -> dict[str, type]:
    return {column.name: _KINDS[column.kind] for column in table.columns}


def _require_statement(statement: Statement, earlier: Sequence[Statement]) -> None:
    """Refuses what SQLite would refuse for its shape, whatever the rows are."""
    _require_columns(statement.table, statement.returning)
    if not isinstance(statement, Insert):
        _require_conditions(statement.table, statement.where, earlier)
    if not isinstance(statement, Delete):
        conflict = statement.conflict if isinstance(statement, Insert) else None
        shape = (statement.table, conflict, tuple(statement.values), tuple(map(type, statement.values.values())))
        if shape not in _known_shapes:
            _require_values(statement, earlier)
            if Ref not in shape[-1]:
                _known_shapes.add(shape)


def _require_values(statement: Insert | Update, earlier: Sequence[Statement]) -> None:
    table, kinds = statement.table, _kinds(statement.table)
    _require_columns(table, tuple(statement.values))
    if isinstance(statement, Insert):
        missing = kinds.keys() - {table.sequence_column} - statement.values.keys()
        assert not missing, f"an insert into '{table.name}' lacks {sorted(missing)}"
        if isinstance(statement.conflict, Upsert):
            key = statement.conflict.key
            assert key in (table.key, *table.unique), f"{key} is neither the key of '{table.name}' nor unique there"
            _require_columns(table, statement.conflict.columns)
    assert statement.values, f"an update of '{table.name}' must set a column"
    assert table.sequence_column not in statement.values, (
        f"'{table.name}.{table.sequence_column}' is numbered by the database"
    )
    for name, value in statement.values.items():
        operand = value.by if isinstance(value, Increment) and isinstance(statement, Update) else value
        _require_value(table, name, kinds[name], operand, earlier)


def _require_query(query: Select) -> None:
    _require_columns(query.table, query.columns)
    _require_columns(query.table, query.order)
    _require_conditions(query.table, query.where, ())


def _require_columns(table: Table, columns: Columns) -> None:
    unknown = set(columns) - _kinds(table).keys()
    assert not unknown, f"table '{table.name}' has no column {sorted(unknown)}"


def _require_conditions(table: Table, conditions: Sequence[Condition], earlier: Sequence[Statement]) -> None:
    kinds = _kinds(table)
    for condition in conditions:
        _require_columns(table, (condition.column,))
        for value in condition.value if condition.operator == "in" else (condition.value,):
            _require_value(table, condition.column, kinds[condition.column], value, earlier)


def _require_value(table: Table, column: str, kind: type, value: Any, earlier: Sequence[Statement]) -> None:
    if isinstance(value, kind):
        return
    assert isinstance(value, Ref), f"'{table.name}.{column}' takes {kind.__name__}, not {type(value).__name__}"
    returned_columns = earlier[value.statement].returning if 0 <= value.statement < len(earlier) else ()
    assert value.column in returned_columns, (
        f"'{table.name}.{column}' refers to what no earlier statement returns: {value}"
    )
