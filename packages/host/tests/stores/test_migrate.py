"""Databases are made, upgraded or refused, and the schema is that of tables.py."""

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from parlour.core.journal import Delete, Search, StorageFailed, Table, where
from parlour.core.store.tables import TABLES, TRANSCRIPT
from parlour.stores import migrate
from parlour.stores.migrate import HEAD, KNOWN_REVISIONS, NewerDatabase, current_revision, ensure
from parlour.stores.sqlite import SqliteJournal
from parlour.testing.journal_contract import commit, searchable
from tools.database_schema.schema import migrated

TYPES = {"text": "TEXT", "integer": "INTEGER", "blob": "BLOB"}


def query_rows(path: Path, sql: str, *parameters: Any) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql, parameters).fetchall()


def indexes(path: Path, table: Table, origin: str) -> set[tuple[str, ...]]:
    names = query_rows(path, "SELECT name FROM pragma_index_list(?) WHERE origin = ?", table.name, origin)
    columns = "SELECT name FROM pragma_index_info(?) ORDER BY seqno"
    return {tuple(column for (column,) in query_rows(path, columns, name)) for (name,) in names}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_migrated_table_is_the_declared_one(template: Path, table: Table) -> None:
    found = query_rows(template, "SELECT name, type, [notnull], pk FROM pragma_table_info(?)", table.name)
    columns = {(column.name, TYPES[column.kind]) for column in table.columns}
    assert {(name, kind) for name, kind, _, _ in found} == columns
    assert all(required for _, _, required, _ in found)
    assert tuple(name for name, _, _, place in sorted(found, key=lambda row: row[3]) if place) == table.key
    assert indexes(template, table, "u") == set(table.unique)
    assert indexes(template, table, "c") == set(table.indexes)
    [(sql,)] = query_rows(template, "SELECT sql FROM sqlite_master WHERE name = ?", table.name)
    assert ("AUTOINCREMENT" in sql) == (table.sequence_column is not None)
    assert sql.rstrip().endswith("STRICT")


def test_no_other_tables_are_created(template: Path) -> None:
    made = {name for (name,) in query_rows(template, "SELECT name FROM sqlite_master WHERE type = 'table'")}
    full_text = {name for name in made if name.startswith(("transcript_words", "knowledge_chunks_words"))}
    assert {"transcript_words", "knowledge_chunks_words"} <= full_text
    assert made - full_text == {table.name for table in TABLES} | {"alembic_version", "sqlite_sequence"}


def test_a_new_database_equals_a_fully_migrated_one() -> None:
    assert migrate.SCHEMA_FILE.read_text() == migrated(), "run `make documents`"


def test_the_known_revisions_are_those_of_alembic() -> None:
    config = Config()
    config.set_main_option("script_location", str(migrate.SCRIPTS))
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_current_head() == HEAD
    assert tuple(script.revision for script in scripts.walk_revisions())[::-1] == KNOWN_REVISIONS


def test_every_migration_names_its_phase() -> None:
    scripts = ScriptDirectory(str(migrate.SCRIPTS))
    phases = {script.revision: getattr(script.module, "phase", "") for script in scripts.walk_revisions()}
    untagged = [revision for revision, phase in phases.items() if phase not in get_args(migrate.Phase)]
    assert untagged == [], 'say `phase = "expand"` or `"contract"`; docs/maintainers/how-to.md explains them'


def test_a_migration_that_removes_or_changes_something_is_no_expansion() -> None:
    removal = re.compile(
        r"op\.(drop_|alter_|rename_)|DROP (TABLE|COLUMN|INDEX|CONSTRAINT)|RENAME|\badd\((?!.*keep_default)"
    )
    scripts = ScriptDirectory(str(migrate.SCRIPTS))
    expansions = [script for script in scripts.walk_revisions() if script.module.phase == "expand"]
    assert {"0001", "0012"} <= {script.revision for script in expansions}
    removing = [script.revision for script in expansions if removal.search(Path(script.path).read_text())]
    assert removing == [], "Hosts of the release before would fail: tag it `contract`"


def test_the_phases_after_a_revision_are_those_of_later_migrations() -> None:
    assert migrate.phases_after(HEAD) == set()
    assert migrate.phases_after("0011") >= {"expand", "contract"}
    assert migrate.phases_after(None) == {"expand", "contract"}


def test_a_database_is_created_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a b?c#d%20é.db"
    assert current_revision(path) is None
    ensure(path)
    assert current_revision(path) == HEAD
    before = path.stat()
    ensure(path)
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert capfd.readouterr() == ("", "")
    assert query_rows(path, "PRAGMA journal_mode") == [("wal",)]


def create_at_revision(revision: str, path: Path) -> None:
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config = migrate.alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()
    assert current_revision(path) == revision


@pytest.mark.parametrize("revision", KNOWN_REVISIONS)
def test_every_earlier_database_is_upgraded(tmp_path: Path, template: Path, revision: str) -> None:
    path = tmp_path / "parlour.db"
    create_at_revision(revision, path)
    ensure(path)
    schema = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
    assert query_rows(path, schema) == query_rows(template, schema)


def put(connection: sqlite3.Connection, table: str, **values: str) -> None:
    """Inserts a row into a table with the columns that it has in that file."""
    columns = connection.execute(f"SELECT name, type FROM pragma_table_info('{table}')")
    row = {name: "" if kind == "TEXT" else 0 for name, kind in columns} | values
    connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", tuple(row.values()))


@pytest.mark.parametrize("revision", ["0004", "0005"])  # 0004 indexes rows at once, 0005 in batches
async def test_rows_found_before_an_upgrade_are_found_after_it(tmp_path: Path, revision: str) -> None:
    path = tmp_path / "parlour.db"
    create_at_revision(revision, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        put(connection, "transcript", transcript_id="0", conversation_id="0", content="never indexed")
        put(connection, "transcript", transcript_id="a", conversation_id="a", content="Rain")
        put(connection, "transcript_search", transcript_id="a", words="rain", event_type="message.received")
    ensure(path)
    async with SqliteJournal(path) as journal:
        await commit(journal, searchable("b", "rain"))
        query = Search(TRANSCRIPT, "words", ("rain",))
        assert [found["transcript_id"] for found in await journal.search(query)] == ["b", "a"]
        by_type = Search(TRANSCRIPT, "words", ("rain",), where(event_type="message.received"))
        assert [found["content"] for found in await journal.search(by_type)] == ["Rain"]
        await commit(journal, Delete(TRANSCRIPT, where(transcript_id="a")))
        assert [found["transcript_id"] for found in await journal.search(query)] == ["b"]


@pytest.mark.parametrize("there", [True, False])
def test_alembic_is_not_loaded_for_a_current_or_a_new_database(tmp_path: Path, template: Path, there: bool) -> None:
    program = (
        "import sys; from pathlib import Path; from parlour.stores.migrate import ensure; "
        "import parlour.stores.sqlite; ensure(Path(sys.argv[1])); "
        "print(sorted({'alembic', 'sqlalchemy', 'mako'} & set(sys.modules)))"
    )
    path = template if there else tmp_path / "parlour.db"
    result = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    assert (result.stdout, result.stderr) == ("[]\n", "")


def test_several_processes_may_create_a_database_at_once(tmp_path: Path) -> None:
    path = tmp_path / "parlour.db"
    program = (
        "import sys; from pathlib import Path; import alembic.command, sqlalchemy; "
        "from parlour.stores.migrate import ensure; "
        "print(flush=True); sys.stdin.readline(); ensure(Path(sys.argv[1]))"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    assert [process.communicate(b"go\n") and process.returncode for process in processes] == [0] * 4
    assert current_revision(path) == HEAD


def test_a_failed_upgrade_leaves_no_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "parlour.db"
    scripts = tmp_path / "migrations" / "versions"
    scripts.mkdir(parents=True)
    for name in ("env.py", "versions/0001_first.py"):
        (scripts.parent / name).write_text((migrate.SCRIPTS / name).read_text())
    first = scripts / "0001_first.py"
    with monkeypatch.context() as patched:
        patched.setattr(migrate, "SCRIPTS", scripts.parent)
        text = first.read_text()
        first.write_text(text.replace("def downgrade", "    op.execute('nonsense')\n\n\ndef downgrade"))
        with pytest.raises(StorageFailed, match="nonsense"):
            migrate.upgrade(path)
    assert query_rows(path, "SELECT name FROM sqlite_master") == []
    ensure(path)
    assert current_revision(path) == HEAD


def test_a_database_that_can_not_be_completed_is_not_created(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, broken = tmp_path / "parlour.db", tmp_path / "schema.sql"
    broken.write_text(migrate.SCHEMA_FILE.read_text() + "nonsense;")
    with monkeypatch.context() as patched:
        patched.setattr(migrate, "SCHEMA_FILE", broken)
        with pytest.raises(StorageFailed, match="nonsense"):
            ensure(path)
    assert query_rows(path, "SELECT name FROM sqlite_master") == []
    ensure(path)
    assert current_revision(path) == HEAD


def test_a_database_of_a_newer_parlour_is_refused(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    with pytest.raises(NewerDatabase, match=r"newer Parlour .* update Parlour, or restore a backup") as failure:
        ensure(database)
    assert (failure.value.code, failure.value.revision) == ("storage_newer", "9999")
    assert current_revision(database) == "9999"


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (text)")
    with pytest.raises(StorageFailed, match="another program") as failure:
        ensure(path)
    assert failure.value.code == "storage_foreign"


def test_a_file_that_is_not_a_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "parlour.db"
    path.write_text("this is no database, however long one reads it\n" * 100)
    with pytest.raises(StorageFailed, match="restore a backup") as failure:
        ensure(path)
    assert failure.value.code == "storage_corrupt"
    assert path.read_text().startswith("this is no database")


def test_a_locked_database_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "parlour.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageFailed, match="locked by another program") as failure:
            ensure(path, busy_timeout=0.01)
    assert failure.value.code == "storage_busy"
    ensure(path)


def test_a_folder_that_cannot_be_written_is_reported(unprivileged: Path) -> None:
    with pytest.raises(StorageFailed, match="can't be written") as failure:
        ensure(unprivileged.with_name("other.db"))
    assert failure.value.code == "storage_readonly"


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="create it"):
        ensure(tmp_path / "absent" / "parlour.db")


def test_a_full_disk_is_reported_and_leaves_no_partial_database(tmp_path: Path) -> None:
    path = tmp_path / "parlour.db"
    program = (
        "import resource, sys; from pathlib import Path; from parlour.core.journal import StorageFailed\n"
        "from parlour.stores.migrate import ensure\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))\n"
        "try: ensure(Path(sys.argv[1]))\n"
        "except StorageFailed as failure: print(failure.code)"
    )
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True, env=environment
    )
    assert result.stdout == "storage_full\n"
    ensure(path)
    assert current_revision(path) == HEAD
