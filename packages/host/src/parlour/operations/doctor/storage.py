"""Checks the data directory, the disk, the database, the key of its secrets, and the store of artifacts."""

import os
import shutil
import sqlite3
import stat
from collections.abc import AsyncIterator
from contextlib import closing

from parlour.app.data_directory import DataDirectory
from parlour.app.secret_key import KEY_BYTES, SecretKeyFiles
from parlour.app.settings import HostSettings
from parlour.core.encoding import loads
from parlour.core.journal import StorageFailed
from parlour.core.secrets import SecretUnreadable
from parlour.stores.definitions import read_definitions
from parlour.stores.factory import current_revision
from parlour.stores.migrate import HEAD, KNOWN_REVISIONS, NewerDatabase

from .finding import Finding, ok, problem, warning

LOW_DISK_BYTES = 1024 * 1024 * 1024
"""Free bytes of the disk below which there is a warning."""
FULL_DISK_BYTES = 64 * 1024 * 1024
"""Free bytes of the disk below which there is a problem."""
SECRET_FIELDS = {"bots": {"secrets"}, "model_providers": {"sealed_keys"}, "mcp_servers": {"headers", "environment"}}
"""Tables with encrypted secrets, and the fields of a definition that contain them."""


async def check(settings: HostSettings) -> AsyncIterator[Finding]:
    directory = DataDirectory(settings.data)
    yield ok("data", f"{directory.path} can be written")
    yield _disk(directory)
    yield await _database(settings, directory)
    yield await _key(settings, directory)
    yield _modes(directory)
    if settings.artifacts.store == "s3":
        yield await _objects(settings)


def _disk(directory: DataDirectory) -> Finding:
    free = shutil.disk_usage(directory.path).free
    message = f"{free / 1024**3:.1f} GiB are free"
    if free < FULL_DISK_BYTES:
        return problem("disk", message, "make room: a Host on a full disk accepts nothing, though it loses nothing")
    if free < LOW_DISK_BYTES:
        return warning("disk", message, "make room, or shorten what retention keeps")
    return ok("disk", message)


async def _database(settings: HostSettings, directory: DataDirectory) -> Finding:
    url = settings.database.url.get_secret_value()
    try:
        revision = await current_revision(url, directory.database)
    except NewerDatabase as error:
        return problem("database", error.message, "update Parlour, or restore a backup from before")
    except StorageFailed as error:
        return problem("database", error.message, "restore a backup, correct database.url, or start what it names")
    except ModuleNotFoundError as error:
        remedy = "pip install 'parlour[postgres]', or empty database.url"
        return problem("database", f"the package {error.name} is not installed", remedy)
    if revision is None:
        return ok("database", "there is none yet; the first start makes it")
    if revision not in KNOWN_REVISIONS:
        return problem(
            "database", f"it was made by a newer Parlour (revision {revision})", "update Parlour, or restore a backup"
        )
    damage = "" if url else _damage(directory)
    if damage:
        return problem("database", f"it is damaged: {damage}", "stop the Host and restore a backup")
    if revision != HEAD:
        return warning("database", f"it has revision {revision}, not {HEAD}", "parlour db upgrade, or just start")
    return ok("database", f"{'PostgreSQL' if url else 'SQLite'}, revision {revision}")


def _damage(directory: DataDirectory) -> str:
    try:
        with closing(sqlite3.connect(f"{directory.database.as_uri()}?mode=ro", uri=True)) as connection:
            [(verdict,)] = connection.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.Error as error:
        return str(error)
    return "" if verdict == "ok" else str(verdict)


async def _key(settings: HostSettings, directory: DataDirectory) -> Finding:
    """Checks the file with the key that secrets are encrypted with."""
    path = directory.secret_key
    try:
        status, size = os.stat(path), len(path.read_bytes())
    except FileNotFoundError:
        if await _has_secrets(settings, directory):
            return problem("secrets", f"{path} is missing", "put it back from a backup, or enter every secret anew")
        return ok("secrets", "no secret was kept yet")
    except OSError as error:
        return problem("secrets", f"{path} can't be read: {error.strerror}", "let the user that runs Parlour read it")
    if size != KEY_BYTES:
        return problem("secrets", f"{path} is no key", str(SecretUnreadable()))
    if SecretKeyFiles(path).is_replacing():
        message = "their key is being replaced, and both keys are kept until that is finished"
        return warning("secrets", message, "if no Host runs, parlour secrets rotate completes it")
    if stat.S_IMODE(status.st_mode) & 0o077:
        return warning("secrets", f"{path} can be read by others", f"chmod 600 '{path}'")
    return ok("secrets", "they are sealed, and the key is its owner's alone")


def _modes(directory: DataDirectory) -> Finding:
    names = directory.public_entries()
    if not names:
        return ok("files", "other users can't read the data directory's files")
    message = f"other users may read or write {', '.join(names[:10])} in {directory.path}"
    return warning(
        "files", message, f"chmod -R go= '{directory.path}'/*; the next start does it for files of its own user"
    )


async def _has_secrets(settings: HostSettings, directory: DataDirectory) -> bool:
    """Returns whether the database contains encrypted secrets, as far as it can be read."""
    url = settings.database.url.get_secret_value()
    try:
        definitions = await read_definitions(url, directory.database, SECRET_FIELDS)
    except (StorageFailed, ModuleNotFoundError):
        return False  # the check of the database reports it
    return any(
        loads(text).get(name) for table, names in SECRET_FIELDS.items() for text in definitions[table] for name in names
    )


async def _objects(settings: HostSettings) -> Finding:
    from parlour.stores.objects.factory import open_object_store
    from parlour.stores.objects.signature import S3Account

    s3 = settings.artifacts.s3
    assert s3 is not None
    account = S3Account(s3.endpoint, s3.bucket, s3.access_key, s3.secret_key.get_secret_value(), s3.region, s3.prefix)
    try:
        async with open_object_store(DataDirectory(settings.data).folder("artifacts"), account) as objects:
            await objects.size("0" * 64)
    except StorageFailed as error:
        return problem("artifacts", error.message, "correct artifacts.s3 in the settings")
    except ModuleNotFoundError as error:
        return problem("artifacts", f"the package {error.name} is not installed", "pip install 'parlour[s3]'")
    return ok("artifacts", f"the bucket {s3.bucket} answers")
