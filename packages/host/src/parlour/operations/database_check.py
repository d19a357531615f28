"""Says what a start of this release would do to the database, without changing it."""

import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from parlour.app.data_directory import DataDirectory, DataDirectoryUnusable
from parlour.app.settings import HostSettings
from parlour.core.journal import StorageFailed
from parlour.stores import migrate, upgrade_copies
from parlour.stores.address import redact_password
from parlour.stores.factory import current_revision
from parlour.stores.network_filesystems import network_type

from .backup import file_copier
from .doctor.finding import Finding, ok, problem

AREA = "database"
PHASES = {
    "expand": "a Host of the release before can go on beside it",
    "contract": "stop Hosts of the release before first",
}


async def check_database(settings: HostSettings, attempt: bool = False) -> AsyncIterator[Finding]:
    """Yields what was found; a problem means that a start would fail.

    With `attempt`, missing migrations of a SQLite file are tried on a copy of it, and timed.
    """
    url = settings.database.url.get_secret_value()
    database = DataDirectory(settings.data).database
    kind = network_type(database.parent) if not url and database.parent.is_dir() else ""
    if kind:
        remedy = "use a local disk, a block volume, or PostgreSQL with database.url"
        yield problem(AREA, f"'{database.parent}' is on a network file system ({kind})", remedy)
        return
    try:
        revision = await current_revision(url, database)
        current = migrate.is_head(revision, redact_password(url) if url else database)
    except StorageFailed as error:
        yield problem(AREA, error.message, "correct database.url or --data, or restore a backup")
        return
    if revision is None:
        yield ok(AREA, f"there is none yet; a start creates revision {migrate.HEAD}")
        return
    if current:
        yield ok(AREA, f"revision {revision}, as this release needs it; nothing to migrate")
        return
    yield ok(AREA, f"revision {revision}; this release needs {migrate.HEAD}")
    for migration in migrate.migrations_after(revision):
        yield ok("migration", f"{migration.revision} {migration.title} ({PHASES[migration.phase]})")
    if url:
        yield ok("copy", "PostgreSQL is not copied: make a backup before you upgrade")
    else:
        yield _room_for_copy(database)
        if attempt:
            yield _attempt(DataDirectory(settings.data), database)


def _room_for_copy(database: Path) -> Finding:
    required = upgrade_copies.required_bytes(database) + upgrade_copies.SPARE_BYTES
    free = shutil.disk_usage(database.parent).free
    sentence = f"the start first copies it to '{database.with_name(upgrade_copies.FOLDER)}': "
    sizes = f"{required / 1024**2:,.0f} MiB are needed and {free / 1024**2:,.0f} MiB are free"
    if free < required:
        return problem("copy", sentence + sizes, "make room, or run parlour db upgrade --without-copy")
    return ok("copy", sentence + sizes)


def _attempt(directory: DataDirectory, database: Path) -> Finding:
    """Migrates a copy of the database, which is deleted afterwards."""
    try:
        with tempfile.TemporaryDirectory(dir=directory.path, prefix=".upgrade-") as folder:
            copied = Path(folder) / database.name
            file_copier(database)(copied)
            started = time.monotonic()
            migrate.upgrade(copied)
            seconds = time.monotonic() - started
    except (OSError, StorageFailed, DataDirectoryUnusable) as error:
        return problem(
            "attempt", f"the migration of a copy failed: {error}", "report it, and stay with the old release"
        )
    return ok("attempt", f"a copy was migrated in {seconds:.1f} s")
