"""Columns for migrations, the same on SQLite and PostgreSQL.

A table of the journal, in `core/store/tables.py` and in a migration, has only such columns, each NOT NULL:

    op.create_table(
        "audit",
        counted("seq"),
        *text("kind actor action"),
        *integer("created_at"),
        sqlite_autoincrement=True,
        sqlite_strict=True,
    )
    op.create_index("audit_by_actor", "audit", ["actor"])

Text compares by code point and integers have 64 bits on both; SQLite checks types only in STRICT tables. A counted
column is the primary key by itself. It needs `sqlite_autoincrement`; on PostgreSQL the journal keeps a counter per
table and slot, which comes with the first row.
"""

from collections.abc import Iterator
from typing import Any, Final

import sqlalchemy as sa
from alembic import op

TEXT: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
INTEGER: Final = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
BLOB: Final = sa.LargeBinary()


def on_postgres() -> bool:
    return op.get_context().dialect.name == "postgresql"


def text(names: str) -> "Iterator[sa.Column[str]]":
    return (sa.Column(name, TEXT, nullable=False) for name in names.split())


def integer(names: str) -> "Iterator[sa.Column[int]]":
    return (sa.Column(name, INTEGER, nullable=False, autoincrement=False) for name in names.split())


def blob(names: str) -> "Iterator[sa.Column[bytes]]":
    return (sa.Column(name, BLOB, nullable=False) for name in names.split())


def counted(name: str) -> "sa.Column[int]":
    return sa.Column(name, INTEGER, primary_key=True, autoincrement=not on_postgres())


def add(table: str, column: "sa.Column[Any]", for_rows_there_are: str, keep_default: bool = False) -> None:
    """Adds a column to a table.

    The journal supplies every value, so the default for existing rows is dropped again where that is possible. A
    migration of the phase `expand` keeps it, for Hosts of the release before that don't know the column.
    """
    column.server_default = sa.DefaultClause(for_rows_there_are)
    op.add_column(table, column)
    if on_postgres() and not keep_default:
        op.alter_column(table, column.name, server_default=None)
