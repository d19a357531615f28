"""Reads the schema of a database as SQL statements that recreate it."""

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from parlour.stores.migrate import HEAD, upgrade

HEADER = "-- Made by `make documents` from the migrations beside it; change those.\n"


def migrated() -> str:
    """Returns the schema that the migrations create in an empty database."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "parlour.db"
        upgrade(file)
        statements = _statements(file)
    return "\n".join([HEADER, *statements, f"INSERT INTO alembic_version VALUES ('{HEAD}');\n"])


def _statements(file: Path) -> list[str]:
    """Returns the statements, tables before their indexes and triggers. Internal tables of a full-text index are left
    out, since they are created with it."""
    with closing(sqlite3.connect(file)) as database:
        rows = list(database.execute("SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL"))
    rows.sort(key=lambda row: (("table", "index", "trigger").index(row[1]), row[0]))
    searched = [name for name, _, sql in rows if sql.startswith("CREATE VIRTUAL TABLE")]
    shadow_tables = {name for name, _, _ in rows for index in searched if name.startswith(f"{index}_")}
    return [f"{sql};\n" for name, _, sql in rows if name not in shadow_tables and not name.startswith("sqlite_")]
