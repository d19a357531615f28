"""PostgreSQL databases are created, upgraded or refused like files, and their schema is that of tables.py."""

import subprocess
import sys
from io import StringIO
from pathlib import Path

import asyncpg
import pytest
from alembic import command

from parlour.core.journal import Search, StorageFailed, Table, where
from parlour.core.store.tables import KNOWLEDGE_CHUNKS, TABLES, TRANSCRIPT
from parlour.stores import migrate as shared
from parlour.stores.migrate import HEAD, KNOWN_REVISIONS, NewerDatabase, alembic_config
from parlour.stores.postgres import PostgresJournal, migrate
from parlour.stores.postgres.migrate import current_revision, ensure
from parlour.stores.postgres.session import SERVING_LOCK_ID
from parlour.testing.postgres_server import PostgresServer

TYPES = {"text": "text", "integer": "bigint", "blob": "bytea"}
OWN = {"alembic_version", "journal_counters", "journal_writers"}

COLUMNS = """
    SELECT attname, format_type(atttypid, atttypmod), attnotnull, collname, pg_get_expr(adbin, adrelid)
    FROM pg_attribute LEFT JOIN pg_collation ON pg_collation.oid = attcollation
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid = '{}'::regclass AND attnum > 0 AND NOT attisdropped
"""
INDEXES = """
    SELECT CASE WHEN indisprimary THEN 'key' WHEN indisunique THEN 'unique' ELSE 'index' END,
        (SELECT string_agg(attname, ' ' ORDER BY place) FROM unnest(indkey) WITH ORDINALITY AS keys (number, place)
        JOIN pg_attribute ON attrelid = indrelid AND attnum = number)
    FROM pg_index WHERE indrelid = '{}'::regclass
"""
BROKEN = f"""
from alembic import op

revision, down_revision, branch_labels, depends_on = "broken", "{HEAD}", None, None


def upgrade():
    op.execute("nonsense")
"""
SEQUENCES = "SELECT relname FROM pg_class WHERE relkind = 'S'"


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_migrated_table_is_the_declared_one(postgres: PostgresServer, shared_database: str, table: Table) -> None:
    found = [row.split("|") for row in postgres.execute(COLUMNS.format(table.name), shared_database)]
    assert {(name, kind) for name, kind, *_ in found} == {(column.name, TYPES[column.kind]) for column in table.columns}
    assert {required for _, _, required, *_ in found} == {"t"}
    assert {collation for _, kind, _, collation, _ in found if kind == "text"} <= {"C"}
    assert {default for *_, default in found} <= {"", "''::text", "'0'::bigint", "'[]'::text"}, (
        "the journal gives every other value"
    )
    indexes = [tuple(row.split("|")) for row in postgres.execute(INDEXES.format(table.name), shared_database)]
    declared = [("key", table.key), *(("unique", each) for each in table.unique)]
    declared += [("index", each) for each in table.indexes]
    if table in (TRANSCRIPT, KNOWLEDGE_CHUNKS):
        declared.append(("index", ()))  # over an expression: the full text
    assert sorted(indexes) == sorted((kind, " ".join(columns)) for kind, columns in declared)


def test_no_other_tables_are_created(postgres: PostgresServer, shared_database: str) -> None:
    made = postgres.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", shared_database)
    assert set(made) == {table.name for table in TABLES} | OWN
    assert postgres.execute(SEQUENCES, shared_database) == []


async def test_a_database_is_created_once(
    postgres: PostgresServer, new_database: str, capfd: pytest.CaptureFixture[str]
) -> None:
    url = postgres.url(new_database)
    assert await current_revision(url) is None
    await ensure(url)
    assert await current_revision(url) == HEAD
    made = postgres.execute("SELECT oid, relname FROM pg_class ORDER BY oid", new_database)
    await ensure(url)
    assert postgres.execute("SELECT oid, relname FROM pg_class ORDER BY oid", new_database) == made
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("revision", KNOWN_REVISIONS)
async def test_every_earlier_database_is_upgraded(
    postgres: PostgresServer, new_database: str, shared_database: str, revision: str
) -> None:
    script = StringIO()
    command.upgrade(alembic_config(script), f"base:{revision}", sql=True)
    postgres.execute(script.getvalue(), new_database)
    assert await current_revision(postgres.url(new_database)) == revision
    await ensure(postgres.url(new_database))
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
    assert postgres.execute(tables, new_database) == postgres.execute(tables, shared_database)


async def test_rows_found_before_an_upgrade_are_found_after_it(postgres: PostgresServer, new_database: str) -> None:
    script = StringIO()
    command.upgrade(alembic_config(script), "base:0005", sql=True)
    postgres.execute(script.getvalue(), new_database)
    item, known = (
        "'a', 'a', '', '', '', '', '', 'Rain', '', '', '', 1, 1, 1",
        "'a', 'a', '', '', '', 'typed', 'rain', 1, 1",
    )
    postgres.execute(f"INSERT INTO transcript VALUES ({item})", new_database)
    postgres.execute(f"INSERT INTO transcript_search VALUES ({known})", new_database)
    await ensure(postgres.url(new_database))
    async with PostgresJournal(postgres.url(new_database)) as journal:
        [found] = await journal.search(Search(TRANSCRIPT, "words", ("rain",), where(event_type="typed")))
        assert found["content"] == "Rain"


def test_alembic_is_not_loaded_for_a_current_database(postgres: PostgresServer, shared_database: str) -> None:
    program = (
        "import asyncio, sys; from parlour.stores.postgres.migrate import ensure; asyncio.run(ensure(sys.argv[1])); "
        "print(sorted({'alembic', 'sqlalchemy', 'mako'} & set(sys.modules)))"
    )
    arguments = [sys.executable, "-c", program, postgres.url(shared_database)]
    result = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert (result.stdout, result.stderr) == ("[]\n", "")


def test_several_processes_may_create_a_database_at_once(postgres: PostgresServer, new_database: str) -> None:
    program = (
        "import asyncio, sys, alembic.command, sqlalchemy; from parlour.stores.postgres.migrate import ensure; "
        "print(flush=True); sys.stdin.readline(); asyncio.run(ensure(sys.argv[1]))"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, postgres.url(new_database)],
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
    assert postgres.execute("SELECT version_num FROM alembic_version", new_database) == [HEAD]


async def test_a_failed_upgrade_leaves_no_changes(
    postgres: PostgresServer, new_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.url(new_database)
    scripts = tmp_path / "migrations"
    (scripts / "versions").mkdir(parents=True)
    for source in (shared.SCRIPTS / "env.py", *shared.SCRIPTS.glob("versions/*.py")):
        (scripts / source.relative_to(shared.SCRIPTS)).write_text(source.read_text())
    (scripts / "versions" / "broken.py").write_text(BROKEN)
    with monkeypatch.context() as patched:
        patched.setattr(shared, "SCRIPTS", scripts)
        with pytest.raises(StorageFailed, match="nonsense"):
            await ensure(url)
    assert postgres.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", new_database) == []
    await ensure(url)
    assert await current_revision(url) == HEAD


async def test_a_contract_migration_is_refused_while_a_host_serves_the_database(
    postgres: PostgresServer, new_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = StringIO()
    command.upgrade(alembic_config(script), "base:0012", sql=True)
    postgres.execute(script.getvalue(), new_database)
    url = postgres.url(new_database)
    monkeypatch.setattr(migrate, "SERVING_LOCK_SECONDS", 0.05)
    host = await asyncpg.connect(url)
    await host.execute(f"SELECT pg_advisory_lock({SERVING_LOCK_ID})")
    with pytest.raises(StorageFailed, match=r"Host of an older release.*stop that Host first") as failure:
        await ensure(url)
    assert failure.value.code == "storage_served"
    assert await current_revision(url) == "0012"
    await host.close()
    await ensure(url)
    assert await current_revision(url) == HEAD


async def test_a_database_of_a_newer_parlour_is_refused(postgres: PostgresServer, new_database: str) -> None:
    url = postgres.url(new_database)
    await ensure(url)
    postgres.execute("UPDATE alembic_version SET version_num = '9999'", new_database)
    with pytest.raises(NewerDatabase, match=r"newer Parlour .* update Parlour, or restore a backup") as failure:
        await ensure(url)
    assert (failure.value.code, failure.value.revision) == ("storage_newer", "9999")
    assert await current_revision(url) == "9999"


async def test_a_database_of_another_program_is_refused(postgres: PostgresServer, new_database: str) -> None:
    postgres.execute("CREATE TABLE notes (line text)", new_database)
    with pytest.raises(StorageFailed, match="another program") as failure:
        await ensure(postgres.url(new_database))
    assert failure.value.code == "storage_foreign"
    assert postgres.execute("SELECT count(*) FROM notes", new_database) == ["0"]
