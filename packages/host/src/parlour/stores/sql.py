"""Compiles statements to SQL text and parameters, once per shape. Drivers do the connecting and executing.

A shape is everything but the values: table, column names, operators, and the types of the values. So any mistake in a
statement is found when its shape is first used, and a known shape costs one look-up and one tuple.
"""

from collections.abc import Callable, Sequence
from typing import Any, assert_never

from parlour.core.journal import (
    Condition,
    Delete,
    Increment,
    Insert,
    Ref,
    Search,
    Select,
    Statement,
    Table,
    Unit,
    Update,
    Upsert,
)
from parlour_sdk.values import dataclass

Parameters = tuple[Any, ...]
Types = tuple[type, ...]
ConditionShape = tuple[str, str, Types]
"""A condition without its values: column, operator, types of its parameters."""

MAX_CHARACTER = chr(0x10FFFF)
KINDS: dict[str, type] = {"text": str, "integer": int, "blob": bytes}


@dataclass(frozen=True, slots=True)
class SqlDialect:
    """The differences between databases."""

    placeholder: Callable[[int, type], str]
    """Returns the placeholder for the parameter of this position (from 1) and type."""
    counter_value: str = ""
    """SQL for the value of a `counted` column in an insert; empty if the database numbers rows itself."""
    return_number: Callable[[Table], str] = lambda table: ""
    """Returns SQL that gives back the number used by an insert without a new row, so that `counted` columns stay
    gap-free."""
    full_text: "FullText | None" = None
    avoids_returning: bool = False
    """True if RETURNING is expensive and a second query is cheap. SQLite fills a table of its own for RETURNING."""


@dataclass(frozen=True, slots=True)
class FullText:
    """SQL of a full-text search. `{table}`, `{column}` and `{asked}` are filled in."""

    source: str
    """Tables to read."""
    condition: str
    """Condition that all words occur."""
    rank: str
    """Sort order, best match first."""
    format_words: Callable[[Sequence[str]], str]
    """Returns the words in the form that the database expects; they are data, never syntax."""


@dataclass(frozen=True, slots=True)
class StatementPlan:
    """A compiled shape."""

    table: Table
    text: str
    references: tuple[int, ...]
    """Positions of parameters that are Refs, replaced when the unit is executed."""
    columns: tuple[str, ...]
    """Column names of each returned row."""
    return_number_sql: str = ""
    """Statement to execute afterwards; empty if none is needed."""
    uses_counter: bool = False
    """True if it uses a number that the driver supplies; then the number used is the last value of each returned
    row."""
    reread_sql: str = ""
    """Query that reads what would have been returned, by the key that ends the parameters; empty if the statement
    returns it."""
    reread_parameter_count: int = 0
    """Number of parameters of that query; 0 for the row that the connection inserted last."""


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _sqlite_return_number(table: Table) -> str:
    # AUTOINCREMENT also counts an insert that ended in ON CONFLICT, although no row has that number.
    return (
        f"UPDATE sqlite_sequence SET seq = seq - 1 WHERE name = '{table.name}' "
        f'AND NOT EXISTS (SELECT 1 FROM "{table.name}" WHERE "{table.sequence_column}" = sqlite_sequence.seq)'
    )


# CROSS JOIN: the full-text index is read first. Otherwise an index of the conditions may be, and each row be looked up.
_SQLITE_SEARCH = FullText(
    source='"{table}_{column}" CROSS JOIN "{table}" ON "{table}".rowid = "{table}_{column}".rowid',
    condition='"{table}_{column}" MATCH {asked}',
    rank='bm25("{table}_{column}")',
    format_words=lambda words: " AND ".join('"' + word.replace('"', '""') + '"' for word in words),
)
SQLITE = SqlDialect(
    placeholder=lambda position, given: "?",
    return_number=_sqlite_return_number,
    full_text=_SQLITE_SEARCH,
    avoids_returning=True,
)


def prefix_end(prefix: str) -> str | None:
    """Returns the lowest text above all that start with `prefix`, or None if there is none."""
    stem = prefix.rstrip(MAX_CHARACTER)
    if not stem:
        return None
    next_code = ord(stem[-1]) + 1
    return stem[:-1] + chr(0xE000 if next_code == 0xD800 else next_code)  # surrogates are not characters


def _escape_pattern(part: str) -> str:
    """Escapes the special characters of a LIKE pattern."""
    return part.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def _pad_to_power_of_two(items: tuple[Any, ...]) -> tuple[Any, ...]:
    """Repeats the last item up to a power of two, since each length of a list would be a shape of its own."""
    missing = (1 << (len(items) - 1).bit_length()) - len(items) if items else 0
    return items + items[-1:] * missing


def _split_conditions(conditions: tuple[Condition, ...]) -> tuple[tuple[ConditionShape, ...], list[Any]]:
    """Splits conditions into their shape and their parameters."""
    tests: list[ConditionShape] = []
    parameters: list[Any] = []
    for condition in conditions:
        operator, value = condition.operator, condition.value
        if operator == "in":
            items = _pad_to_power_of_two(tuple(value))
            tests.append((condition.column, operator, tuple(map(type, items))))
            parameters += items
        elif operator == "holding":
            tests.append((condition.column, operator, (type(value),)))
            parameters.append(f"%{_escape_pattern(value)}%")
        elif operator == "starting":
            if not isinstance(value, str):
                raise AssertionError(f"a prefix of '{condition.column}' must be text, not {type(value).__name__}")
            end = prefix_end(value)
            if end is None:
                tests.append((condition.column, ">=", (str,)))
                parameters.append(value)
            else:
                tests.append((condition.column, operator, (str, str)))
                parameters += (value, end)
        else:
            tests.append((condition.column, operator, (type(value),)))
            parameters.append(value)
    return tuple(tests), parameters


class _SqlBuilder:
    """Builds the SQL of one statement: numbers parameters, notes Refs, and rejects what the table can't hold."""

    def __init__(self, dialect: SqlDialect, table: Table) -> None:
        self._dialect = dialect
        self._table = table
        self._kinds = {column.name: KINDS[column.kind] for column in table.columns}
        self._count = 0
        self.references: list[int] = []

    def names(self, names: Sequence[str]) -> str:
        for name in names:
            if name not in self._kinds:
                raise AssertionError(f"table '{self._table.name}' has no column '{name}'")
        return _quoted(names)

    def parameter(self, column: str, value_type: type) -> str:
        self.names((column,))
        kind = self._kinds[column]
        if value_type is Ref:
            self.references.append(self._count)
            value_type = kind
        elif not issubclass(value_type, kind):
            raise AssertionError(f"'{self._table.name}.{column}' takes {kind.__name__}, not {value_type.__name__}")
        self._count += 1
        return self._dialect.placeholder(self._count, value_type)

    def assignment(self, column: str, value_type: type) -> str:
        if column == self._table.sequence_column:
            raise AssertionError(f"'{self._table.name}.{column}' is numbered by the database")
        if value_type is Increment:
            return f'"{column}" = "{column}" + {self.parameter(column, int)}'
        return f'"{column}" = {self.parameter(column, value_type)}'

    def where(self, tests: tuple[ConditionShape, ...]) -> str:
        return " WHERE " + " AND ".join(map(self._test, tests)) if tests else ""

    def returning(self, columns: tuple[str, ...]) -> str:
        return f" RETURNING {self.names(columns)}" if columns else ""

    def _test(self, test: ConditionShape) -> str:
        column, operator, types = test
        if operator == "in" and not types:
            return "1 = 0"
        placeholders = [self.parameter(column, value_type) for value_type in types]
        if operator == "in":
            return f'"{column}" IN ({", ".join(placeholders)})'
        if operator == "starting":
            return f'"{column}" >= {placeholders[0]} AND "{column}" < {placeholders[1]}'
        if operator == "holding":
            return f"lower(\"{column}\") LIKE lower({placeholders[0]}) ESCAPE '!'"
        return f'"{column}" {operator} {placeholders[0]}'


CompiledStatement = tuple[StatementPlan, Parameters, int | None]
"""A compiled statement. The third item is the number of rows that it must affect, if that matters."""


class Compiler:
    """Compiles statements and queries to plans with parameters."""

    def __init__(self, dialect: SqlDialect) -> None:
        self._dialect = dialect
        self._plans: dict[Any, StatementPlan] = {}

    def unit(self, unit: Unit) -> list[CompiledStatement]:
        steps = [self.statement(statement) for statement in unit.statements]
        for index, (plan, parameters, _) in enumerate(steps):
            if plan.references:
                _require_references(unit, index, plan, parameters)
        return steps

    def statement(self, statement: Statement) -> CompiledStatement:
        match statement:
            case Insert():
                return self._insert(statement)
            case Update():
                return self._update(statement)
            case Delete():
                return self._delete(statement)
            case _:
                assert_never(statement)

    def select(self, query: Select) -> tuple[StatementPlan, Parameters]:
        tests, parameters = _split_conditions(query.where)
        limited = query.limit is not None
        shape = (Select, query.table, tests, query.columns, query.order, query.direction, limited)
        plan = self._plans.get(shape)
        if plan is None:
            text = _SqlBuilder(self._dialect, query.table)
            columns = query.columns or query.table.column_names
            sql = f'SELECT {text.names(columns)} FROM "{query.table.name}"{text.where(tests)}'
            if query.order:
                text.names(query.order)
                suffix = " DESC" if query.direction == "descending" else ""
                sql += " ORDER BY " + ", ".join(f'"{name}"{suffix}' for name in query.order)
            if limited:
                sql += f" LIMIT {self._dialect.placeholder(len(parameters) + 1, int)}"
            plan = self._plans[shape] = StatementPlan(query.table, sql, tuple(text.references), columns)
        if plan.references:
            raise AssertionError("a query is no part of a unit and can't hold a Ref")
        if limited:
            parameters.append(query.limit)
        return plan, tuple(parameters)

    def search(self, query: Search) -> tuple[StatementPlan, Parameters]:
        """Compiles a search. Equally good matches are sorted by key, newest first."""
        full_text = self._dialect.full_text
        if full_text is None:
            raise AssertionError("these connections don't search")
        tests, parameters = _split_conditions(query.where)
        shape = (Search, query.table, query.column, tests, query.columns, query.ranked)
        plan = self._plans.get(shape)
        if plan is None:
            text, table = _SqlBuilder(self._dialect, query.table), query.table
            words_parameter = text.parameter(query.column, str)
            substitutions = {"table": table.name, "column": query.column, "asked": words_parameter}
            conditions = text.where(tests).replace(" WHERE ", " AND ", 1)
            returned = query.columns or table.column_names
            text.names(returned)
            columns = ", ".join(f'"{table.name}"."{name}"' for name in returned)
            newest = ", ".join(f'"{table.name}"."{name}" DESC' for name in table.key)
            order = f"ORDER BY {full_text.rank.format(**substitutions)}, {newest} " if query.ranked else ""
            sql = (
                f"SELECT {columns} FROM {full_text.source.format(**substitutions)} "
                f"WHERE {full_text.condition.format(**substitutions)}{conditions} {order}"
                f"LIMIT {self._dialect.placeholder(len(parameters) + 2, int)}"
            )
            plan = self._plans[shape] = StatementPlan(table, sql, (), returned)
        return plan, (full_text.format_words(query.words), *parameters, query.limit)

    def _insert(self, statement: Insert) -> CompiledStatement:
        table, values = statement.table, statement.values
        parameters = tuple(values.values())
        shape = (table, tuple(values), tuple(map(type, parameters)), statement.conflict, statement.returning)
        plan = self._plans.get(shape)
        if plan is None:
            plan = self._plans[shape] = self._insert_plan(statement)
        return plan, parameters, None

    def _insert_plan(self, statement: Insert) -> StatementPlan:
        table, values, returning = statement.table, statement.values, statement.returning
        if set(values) != set(table.column_names) - {table.sequence_column}:
            differing = sorted(set(values) ^ (set(table.column_names) - {table.sequence_column}))
            raise AssertionError(f"an insert into '{table.name}' must name each column once: {differing}")
        text = _SqlBuilder(self._dialect, table)
        placeholders = {name: text.parameter(name, type(value)) for name, value in values.items()}
        numbered = False
        if table.sequence_column and self._dialect.counter_value:
            numbered = True
            placeholders[table.sequence_column] = self._dialect.counter_value
            returning = (*returning, table.sequence_column)
        values_sql = ", ".join(placeholders.values())
        sql = f'INSERT INTO "{table.name}" ({text.names(tuple(placeholders))}) VALUES ({values_sql})'
        sql += self._on_conflict(statement, text)
        if (
            self._dialect.avoids_returning
            and returning
            and returning == (table.sequence_column,)
            and statement.conflict == "fail"
        ):
            return StatementPlan(table, sql, tuple(text.references), returning, reread_sql="SELECT last_insert_rowid()")
        sql += text.returning(returning)
        give_back = self._dialect.return_number(table) if table.sequence_column and statement.conflict != "fail" else ""
        return StatementPlan(table, sql, tuple(text.references), statement.returning, give_back, numbered)

    def _on_conflict(self, statement: Insert, text: _SqlBuilder) -> str:
        match statement.conflict:
            case "fail":
                return ""
            case "ignore":
                return " ON CONFLICT DO NOTHING"
            case Upsert(key, columns):
                if key not in (statement.table.key, *statement.table.unique):
                    raise AssertionError(f"{key} is neither the key of '{statement.table.name}' nor unique there")
                text.names(columns)
                sets = ", ".join(f'"{name}" = excluded."{name}"' for name in columns)
                return f" ON CONFLICT ({_quoted(key)}) DO " + (f"UPDATE SET {sets}" if sets else "NOTHING")

    def _update(self, statement: Update) -> CompiledStatement:
        values = statement.values
        types = tuple(map(type, values.values()))
        tests, parameters = _split_conditions(statement.where)
        shape = (Update, statement.table, tuple(values), types, tests, statement.returning)
        plan = self._plans.get(shape)
        if plan is None:
            text = _SqlBuilder(self._dialect, statement.table)
            if not values:
                raise AssertionError(f"an update of '{statement.table.name}' must set a column")
            sets = ", ".join(text.assignment(name, value_type) for name, value_type in zip(values, types, strict=True))
            sql = f'UPDATE "{statement.table.name}" SET {sets}{text.where(tests)}'
            reread_sql = self._reread_sql(statement, tests)
            sql += "" if reread_sql else text.returning(statement.returning)
            references, returning = tuple(text.references), statement.returning
            plan = self._plans[shape] = StatementPlan(
                statement.table,
                sql,
                references,
                returning,
                reread_sql=reread_sql,
                reread_parameter_count=len(tests) if reread_sql else 0,
            )
        value_type = [value.by if type(value) is Increment else value for value in values.values()]
        return plan, (*value_type, *parameters), statement.expect

    def _reread_sql(self, statement: Update, tests: tuple[ConditionShape, ...]) -> str:
        """Returns a query for the updated row by its whole, unchanged key; empty if that is not possible."""
        table, columns = statement.table, {column for column, operator, _ in tests if operator == "="}
        is_key_lookup = (
            len(tests) == len(table.key) and columns == set(table.key) and columns.isdisjoint(statement.values)
        )
        if not (self._dialect.avoids_returning and statement.returning and is_key_lookup):
            return ""
        text = _SqlBuilder(self._dialect, table)
        return f'SELECT {text.names(statement.returning)} FROM "{table.name}"{text.where(tests)}'

    def _delete(self, statement: Delete) -> CompiledStatement:
        tests, parameters = _split_conditions(statement.where)
        shape = (Delete, statement.table, tests, statement.returning)
        plan = self._plans.get(shape)
        if plan is None:
            text = _SqlBuilder(self._dialect, statement.table)
            sql = f'DELETE FROM "{statement.table.name}"{text.where(tests)}{text.returning(statement.returning)}'
            plan = self._plans[shape] = StatementPlan(statement.table, sql, tuple(text.references), statement.returning)
        return plan, tuple(parameters), statement.expect


def _require_references(unit: Unit, index: int, plan: StatementPlan, parameters: Parameters) -> None:
    """Rejects a Ref to a statement that is not an earlier one, or to a column that it does not return."""
    for position in plan.references:
        reference = parameters[position]
        if not 0 <= reference.statement < index:
            raise AssertionError(f"statement {index} of unit '{unit.name}' refers to no earlier one: {reference}")
        if reference.column not in unit.statements[reference.statement].returning:
            raise AssertionError(f"statement {index} of unit '{unit.name}' refers to what is not returned: {reference}")
