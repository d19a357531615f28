"""Statements are compiled to SQL that uses indexes, once per shape."""

import sqlite3
from pathlib import Path

import pytest

from parlour.core.journal import Increment, Insert, Select, Update, one_of, starts_with, where
from parlour.core.store.tables import EVENTS, META, OUTBOX, RUNS, STATE
from parlour.stores.migrate import ensure
from parlour.stores.sql import SQLITE, Compiler, prefix_end
from parlour.testing.journal_contract import filled


@pytest.mark.parametrize(
    ("prefix", "end"),
    [
        ("", None),
        ("a", "b"),
        ("az", "a{"),
        ("\ud7ff", "\ue000"),
        ("a\U0010ffff", "b"),
        ("\U0010ffff", None),
        ("\U0010fffe", "\U0010ffff"),
    ],
)
def test_the_successor_is_the_end_of_a_prefix(prefix: str, end: str | None) -> None:
    assert prefix_end(prefix) == end


def test_a_known_shape_is_compiled_once() -> None:
    compiler = Compiler(SQLITE)
    first = compiler.statement(Insert(META, {"name": "a", "value": "1"}))
    second = compiler.statement(Insert(META, {"name": "b", "value": "2"}))
    assert first[0] is second[0]
    assert second[1] == ("b", "2")
    increment = compiler.statement(Update(RUNS, {"effects": Increment(2)}, where(run_id="r")))
    setting = compiler.statement(Update(RUNS, {"effects": 2}, where(run_id="r")))
    assert increment[1] == setting[1] == (2, "r")
    assert increment[0] is not setting[0]


def test_choices_of_many_lengths_share_few_shapes() -> None:
    compiler = Compiler(SQLITE)
    queries = [Select(META, where(name=one_of(*map(str, range(length))))) for length in range(1, 65)]
    assert len({compiler.select(query)[0].text for query in queries}) == 7


@pytest.mark.parametrize(
    "query",
    [
        Select(META, where(name=starts_with("prefix"))),
        Select(STATE, where(scope_key="k", name=starts_with("prefix")), order=("name",)),
        Select(RUNS, where(status=one_of("created", "running"))),
        Select(EVENTS, where(conversation_id="c"), order=("seq",), direction="descending", limit=10),
        Select(OUTBOX, where(outbox_id="o")),
    ],
)
def test_declared_indexes_serve_the_query(tmp_path: Path, query: Select) -> None:
    path = tmp_path / "parlour.db"
    ensure(path)
    plan, parameters = Compiler(SQLITE).select(query)
    connection = sqlite3.connect(path)
    details = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {plan.text}", parameters)]
    connection.close()
    assert len(details) == 1, "neither a scan nor a sort beside the search"
    assert details[0].startswith(f"SEARCH {query.table.name} USING INDEX")


def test_a_give_back_follows_only_inserts_that_may_end_in_a_conflict() -> None:
    compiler = Compiler(SQLITE)
    row = filled(EVENTS)
    assert compiler.statement(Insert(EVENTS, row))[0].return_number_sql == ""
    assert compiler.statement(Insert(EVENTS, row, conflict="ignore"))[0].return_number_sql
    assert compiler.statement(Insert(META, filled(META), conflict="ignore"))[0].return_number_sql == ""
