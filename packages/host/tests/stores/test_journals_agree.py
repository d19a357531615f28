"""Random units have the same outcomes and leave the same rows in memory, on SQLite and on PostgreSQL."""

import asyncio
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parlour.core.journal import (
    Column,
    Condition,
    Delete,
    GuardFailed,
    Increment,
    Insert,
    Journal,
    PreparedCallback,
    Receipt,
    Ref,
    Row,
    Search,
    Select,
    Statement,
    Table,
    Unit,
    Update,
    Upsert,
)
from parlour.stores.postgres import PostgresJournal, migrate
from parlour.stores.postgres.numbers import SLOT_COUNT
from parlour.stores.sqlite import SqliteJournal
from parlour.testing import MemoryJournal
from parlour.testing.postgres_server import PostgresServer

NUMBERED = Table(
    "numbered",
    (Column("number", "integer"), Column("name"), Column("count", "integer")),
    key=("number",),
    unique=(("name",),),
    indexes=(("count", "number"),),
    sequence_column="number",
)
PLACES = Table(
    "places",
    (Column("x"), Column("y", "integer"), Column("data", "blob"), Column("label"), Column("count", "integer")),
    key=("x", "y"),
    unique=(("label", "y"),),
    indexes=(("data",),),
)
TABLES = (NUMBERED, PLACES)
SQLITE_TYPES = {"text": "TEXT", "integer": "INTEGER", "blob": "BLOB"}
POSTGRES_TYPES = {"text": 'TEXT COLLATE "C"', "integer": "BIGINT", "blob": "BYTEA"}

VALUES = {
    "text": st.sampled_from(["", "\0", "\x01", "a", "ab", "b", "中", "\U0010ffff", "\U0010ffffa"]),
    "integer": st.sampled_from([-1, 0, 1, 2, 3]),
    "blob": st.sampled_from([b"", b"\0", b"a"]),
}
OPERATORS = ["=", "!=", "<", "<=", ">", ">="]


def created_in_sqlite(table: Table) -> str:
    counted = f"{table.sequence_column} INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT"
    parts = [
        counted if column.name == table.sequence_column else f"{column.name} {SQLITE_TYPES[column.kind]} NOT NULL"
        for column in table.columns
    ]
    parts += [] if table.sequence_column else [f"PRIMARY KEY ({', '.join(table.key)})"]
    parts += [f"UNIQUE ({', '.join(columns)})" for columns in table.unique]
    return f"CREATE TABLE {table.name} ({', '.join(parts)}) STRICT"


def created_in_postgres(table: Table) -> str:
    parts = [f'"{column.name}" {POSTGRES_TYPES[column.kind]} NOT NULL' for column in table.columns]
    parts += [f"PRIMARY KEY ({', '.join(table.key)})"]
    parts += [f"UNIQUE ({', '.join(columns)})" for columns in table.unique]
    return f"CREATE TABLE {table.name} ({', '.join(parts)})"


def condition(table: Table) -> st.SearchStrategy[Condition]:
    def on(column: Column) -> st.SearchStrategy[Condition]:
        values = VALUES[column.kind]
        tests = [
            st.builds(Condition, st.just(column.name), st.sampled_from(OPERATORS), values),
            st.builds(Condition, st.just(column.name), st.just("in"), st.lists(values, max_size=3).map(tuple)),
        ]
        if column.kind == "text":
            tests.append(st.builds(Condition, st.just(column.name), st.just("starting"), values))
        return st.one_of(tests)

    return st.one_of(*map(on, table.columns))


def conditions(table: Table) -> st.SearchStrategy[tuple[Condition, ...]]:
    return st.lists(condition(table), max_size=2).map(tuple)


def inserts(table: Table) -> st.SearchStrategy[Statement]:
    columns = [column for column in table.columns if column.name != table.sequence_column]
    upserts = [
        st.builds(Upsert, st.just(key), st.lists(st.sampled_from(columns), unique=True, max_size=2).map(_names))
        for key in (*table.unique, *(() if table.sequence_column else (table.key,)))
    ]
    row = st.fixed_dictionaries({column.name: VALUES[column.kind] for column in columns})
    conflict = st.one_of(st.just("fail"), st.just("ignore"), *upserts)
    return st.builds(Insert, st.just(table), row, conflict, st.sampled_from([(), table.column_names]))


def updates(table: Table) -> st.SearchStrategy[Statement]:
    # The outcome of moving several rows onto keys of other rows in one statement depends on the order of rows. So
    # columns that must be unique are changed in one row at a time, which the key selects.
    free = [column for column in table.columns if not any(column.name in each for each in (table.key, *table.unique))]
    harmless = [st.fixed_dictionaries({column.name: VALUES[column.kind]}) for column in free]
    counting = st.fixed_dictionaries({"count": st.builds(Increment, st.integers(-2, 2))})
    many = st.builds(
        Update,
        st.just(table),
        st.one_of(*harmless, counting),
        conditions(table),
        st.sampled_from([None, 0, 1, 2]),
        st.sampled_from([(), table.column_names]),
    )
    movable = [column for column in table.columns if column.name != table.sequence_column]
    kinds = {column.name: column.kind for column in table.columns}
    one = st.builds(
        Update,
        st.just(table),
        st.one_of(*(st.fixed_dictionaries({column.name: VALUES[column.kind]}) for column in movable)),
        st.tuples(*(st.builds(Condition, st.just(name), st.just("="), VALUES[kinds[name]]) for name in table.key)),
        st.sampled_from([None, 1]),
    )
    return st.one_of(many, one)


def deletes(table: Table) -> st.SearchStrategy[Statement]:
    expect = st.sampled_from([None, 0, 1, 2])
    return st.builds(Delete, st.just(table), conditions(table), expect, st.sampled_from([(), table.key]))


def _names(columns: list[Column]) -> tuple[str, ...]:
    return tuple(column.name for column in columns)


def referring(statements: list[Statement]) -> tuple[Statement, ...]:
    """Makes later inserts use a count that an earlier insert returned."""
    result: list[Statement] = []
    for statement in statements:
        earlier = next((index for index, each in enumerate(result) if "count" in each.returning), None)
        if earlier is not None and isinstance(statement, Insert) and statement.values["count"] == 3:
            values = {**statement.values, "count": Ref(earlier, "count")}
            statement = Insert(statement.table, values, statement.conflict, statement.returning)
        result.append(statement)
    return tuple(result)


def selects(table: Table) -> st.SearchStrategy[Select]:
    return st.builds(
        Select,
        st.just(table),
        conditions(table),
        st.just(()),
        st.just(table.key),
        st.sampled_from(["ascending", "descending"]),
        st.sampled_from([None, 0, 1, 3]),
    )


statements = st.one_of(*(kind(table) for kind in (inserts, inserts, updates, deletes) for table in TABLES))
units = st.lists(statements, min_size=1, max_size=4).map(lambda each: Unit("random", referring(each)))
queries = st.one_of(*map(selects, TABLES))


class DividedNumbers:
    """Shows the numbers of a PostgreSQL journal as 1, 2, 3, like those of the others."""

    def __init__(self, journal: PostgresJournal) -> None:
        self._journal = journal

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        statements = tuple(
            each if isinstance(each, Insert) else replace(each, where=_multiplied(each.where))
            for each in unit.statements
        )
        return [_divided(rows) for rows in await self._journal.commit(Unit(unit.name, statements))]

    async def read(self, query: Select) -> list[Row]:
        return _divided(await self._journal.read(replace(query, where=_multiplied(query.where))))

    async def search(self, query: Search) -> list[Row]:
        return await self._journal.search(query)


def _multiplied(tests: tuple[Condition, ...]) -> tuple[Condition, ...]:
    return tuple(test._replace(value=_times_step(test.value)) if test.column == "number" else test for test in tests)


def _times_step(value: Any) -> Any:
    return tuple(map(_times_step, value)) if isinstance(value, tuple) else value * SLOT_COUNT


def _divided(rows: list[Row]) -> list[Row]:
    return [{**row, "number": row["number"] // SLOT_COUNT} if "number" in row else row for row in rows]


async def outcome(journal: Journal, unit: Unit) -> Any:
    try:
        receipt = await journal.commit(unit)
    except GuardFailed as failure:
        return failure.statement
    return [sorted(map(repr, rows)) for rows in receipt]


@pytest.fixture(scope="module")
def url(postgres: PostgresServer) -> str:
    """A database with the tables of this module and those of the journal."""
    name = postgres.create()
    asyncio.run(migrate.ensure(postgres.url(name)))
    for table in TABLES:
        postgres.execute(created_in_postgres(table), name)
    return postgres.url(name)


async def emptied(url: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute("DELETE FROM numbered; DELETE FROM places; DELETE FROM journal_counters")
    await connection.close()


async def run(path: Path, url: str, batches: list[list[Unit]], queries_read: list[Select]) -> None:
    memory = MemoryJournal()
    await emptied(url)
    async with SqliteJournal(path) as sqlite, PostgresJournal(url) as with_slots:
        postgres = DividedNumbers(with_slots)
        for batch in batches:
            expected, on_sqlite, on_postgres = [
                await asyncio.gather(*(outcome(journal, unit) for unit in batch))
                for journal in (memory, sqlite, postgres)
            ]
            assert on_sqlite == expected
            assert on_postgres == expected
        for query in (*(Select(table, order=table.key) for table in TABLES), *queries_read):
            rows = await memory.read(query)
            assert await sqlite.read(query) == rows
            assert await postgres.read(query) == rows
            assert await postgres.read(replace(query, point_read=True)) == rows


SETTINGS = settings(derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
BATCHES = st.lists(st.lists(units, min_size=1, max_size=4), min_size=1, max_size=5)
QUERY_LISTS = st.lists(queries, max_size=4)


def compare(url: str, batches: list[list[Unit]], queries_read: list[Select]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agree.db"
        with closing(sqlite3.connect(path)) as connection:
            for table in TABLES:
                connection.execute(created_in_sqlite(table))
        asyncio.run(run(path, url, batches, queries_read))


@settings(SETTINGS, max_examples=60)
@given(batches=BATCHES, queries_read=QUERY_LISTS)
def test_memory_sqlite_and_postgres_agree(url: str, batches: list[list[Unit]], queries_read: list[Select]) -> None:
    compare(url, batches, queries_read)


@pytest.mark.long
@pytest.mark.timeout(900)
@settings(SETTINGS, max_examples=500)
@given(batches=BATCHES, queries_read=QUERY_LISTS)
def test_memory_sqlite_and_postgres_agree_on_many_more_units(
    url: str, batches: list[list[Unit]], queries_read: list[Select]
) -> None:
    compare(url, batches, queries_read)
