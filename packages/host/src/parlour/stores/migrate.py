"""Brings a SQLite file to the schema of this release. Alembic is imported only if there is something to do.

`stores.postgres.migrate` does this for PostgreSQL with the same migrations. To add a table, name it in
`core/store/tables.py` and create it in a new file below `migrations/versions`, with the columns of `stores.columns`;
add its revision to KNOWN_REVISIONS. The tests compare both databases with `tables.py`.
"""

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TextIO

from parlour.core.journal import StorageFailed
from parlour.file_locks import lock_file

from .network_filesystems import network_type
from .sqlite.connection import connect
from .sqlite.errors import storage_failure
from .upgrade_copies import copy_before_upgrade

if TYPE_CHECKING:
    from alembic.config import Config

Phase = Literal["expand", "contract"]
"""Says whether Hosts of the release before can use the database after a migration. `expand` adds tables, indexes, and
columns with a default, which they can ignore; any other change is `contract` and needs them to be stopped."""
KNOWN_REVISIONS = (
    "0001",
    "0002",
    "0003",
    "0004",
    "0005",
    "0006",
    "0007",
    "0008",
    "0009",
    "0010",
    "0011",
    "0012",
    "0013",
    "0014",
    "0015",
    "0016",
    "0017",
    "0018",
    "0019",
    "0020",
    "0021",
    "0022",
    "0023",
    "0024",
    "0025",
    "0026",
)
"""Every revision below migrations/versions, oldest first."""
HEAD = KNOWN_REVISIONS[-1]

SCRIPTS = Path(__file__).with_name("migrations")
SCHEMA_FILE = SCRIPTS / "schema.sql"
"""The result of all migrations together, so that a new database is created without them. `make documents` writes it,
and a test compares it with them."""
BUSY_TIMEOUT_SECONDS = 5.0


class NewerDatabase(StorageFailed):
    """Raised when the database was made by a newer Parlour."""

    def __init__(self, database: Path | str, revision: str) -> None:
        super().__init__(
            "storage_newer",
            f"'{database}' was made by a newer Parlour (its revision is {revision}, this one knows up to {HEAD}): "
            "update Parlour, or restore a backup from before.",
        )
        self.revision = revision


def current_revision(path: Path, *, busy_timeout: float = BUSY_TIMEOUT_SECONDS) -> str | None:
    """Returns the file's revision; None if it is absent or empty. Raises StorageFailed if it is no Parlour database."""
    if not path.exists():
        return None
    with _translate_errors(path), closing(connect(path, "rw", busy_timeout)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            return None
        rows = connection.execute("SELECT version_num FROM alembic_version") if "alembic_version" in tables else ()
        for (revision,) in rows:
            return str(revision)
    raise StorageFailed(
        "storage_foreign", f"'{path}' is a database of another program: choose another file or data directory."
    )


def ensure(path: Path, *, busy_timeout: float = BUSY_TIMEOUT_SECONDS, copy: bool = True) -> None:
    """Creates or upgrades the database if it is not at HEAD. Any number of processes may do so at the same time.

    With `copy`, the database is copied before it is upgraded. Raises StorageFailed.
    """
    _require_local_folder(path)
    if _is_current(path, busy_timeout):
        return
    with _exclusive_lock(path):
        revision = current_revision(path, busy_timeout=busy_timeout)
        if revision is None:
            _create(path, busy_timeout)
        elif not _is_current(path, busy_timeout):
            if copy:
                copy_before_upgrade(path, revision)
            upgrade(path, busy_timeout=busy_timeout)


def _require_local_folder(path: Path) -> None:
    kind = network_type(path.parent)
    if kind:
        raise StorageFailed(
            "storage_network_filesystem",
            f"'{path.parent}' is on a network file system ({kind}), where SQLite can lose data: use a data directory "
            "on a local disk or a block volume, or PostgreSQL with database.url.",
        )


def is_head(revision: str | None, database: Path | str) -> bool:
    """Returns whether there is nothing to do. Raises NewerDatabase for a revision that this release does not know."""
    if revision is not None and revision not in KNOWN_REVISIONS:
        raise NewerDatabase(database, revision)
    return revision == HEAD


def alembic_config(output: TextIO | None = None) -> "Config":
    """Returns the configuration of Alembic. With an output, migrations are written there as SQL for PostgreSQL."""
    logging.getLogger("alembic").setLevel(logging.WARNING)  # before the import, which already logs
    from alembic.config import Config

    config = Config(output_buffer=output)
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    return config


def phases_after(revision: str | None) -> set[Phase]:
    """Returns the phases of the migrations that a database of this revision still needs."""
    return {migration.phase for migration in migrations_after(revision)}


class Migration(NamedTuple):
    """A migration that a database still needs."""

    revision: str
    title: str
    phase: Phase


def migrations_after(revision: str | None) -> list[Migration]:
    """Returns the migrations that a database of this revision still needs, oldest first."""
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(alembic_config())
    missing = [*scripts.iterate_revisions("head", revision or "base")]
    return [Migration(each.revision, each.doc, each.module.phase) for each in reversed(missing)]


def _is_current(path: Path, busy_timeout: float) -> bool:
    return is_head(current_revision(path, busy_timeout=busy_timeout), path)


@contextmanager
def _exclusive_lock(path: Path) -> Iterator[None]:
    """Holds a lock on a file beside the database.

    The file stays, since removing it would race with the next process that locks it.
    """
    try:
        descriptor = os.open(f"{path}.upgrading", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StorageFailed(
            "storage_readonly",
            f"The folder of '{path}' can't be written ({error.strerror}): "
            "create it, or let the user that runs Parlour write to it.",
        ) from error
    try:
        lock_file(descriptor)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise storage_failure(error, path) from error


def _create(path: Path, busy_timeout: float) -> None:
    with _translate_errors(path), closing(connect(path, "rwc", busy_timeout)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(f"BEGIN IMMEDIATE;\n{SCHEMA_FILE.read_text()}\nCOMMIT;")


def upgrade(path: Path, *, busy_timeout: float = BUSY_TIMEOUT_SECONDS) -> None:
    """Applies the missing migrations, one after the other, whatever the current revision."""
    config = alembic_config()
    from alembic import command
    from sqlalchemy import create_engine, event
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.pool import StaticPool

    with _translate_errors(path), closing(connect(path, "rwc", busy_timeout)) as raw:
        raw.execute("PRAGMA journal_mode=WAL")
        engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
        # The driver begins no transaction for schema changes, so one is begun here: all of it happens, or nothing.
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
        try:
            with engine.connect() as connection:
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
                connection.commit()
        except DBAPIError as error:
            if isinstance(error.orig, sqlite3.Error):
                raise storage_failure(error.orig, path) from error
            raise
