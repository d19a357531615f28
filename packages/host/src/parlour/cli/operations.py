"""`parlour backup`, `restore` and `db`: what an operator does with the data itself."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from parlour.config import Settings
from parlour.core.journal import StorageFailed
from parlour.data_directory import DataDirectory
from parlour.operations import backup as backups
from parlour.operations import restore as restoring
from parlour.stores.migrate import HEAD
from parlour.stores.opening import current, opened
from parlour.version import VERSION

from .main import CommandFailed

Answer = TypeVar("Answer")
ELSEWHERE = (
    "database.url names a PostgreSQL database: dump and load that with pg_dump and pg_restore, "
    "and copy the data directory beside it"
)


def backup(settings: Settings, file: Path) -> None:
    _require_file(settings)
    try:
        written = backups.write(DataDirectory(settings.data), file, VERSION)
    except backups.BackupFailed as failure:
        raise CommandFailed(str(failure)) from failure
    except StorageFailed as failure:
        raise CommandFailed(failure.message) from failure
    print(f"{written.file}: {written.size_bytes:,} bytes; it holds the key to every secret, so keep it safe")


def restore(settings: Settings, file: Path) -> None:
    _require_file(settings)
    try:
        manifest = restoring.read(file, DataDirectory(settings.data).path)
    except restoring.RestoreFailed as failure:
        raise CommandFailed(str(failure)) from failure
    print(f"{settings.data}: as it was in the backup of Parlour {manifest['version']}; start it with parlour serve")


def db_current(settings: Settings) -> None:
    print(_in_words(_run(current(_url(settings), DataDirectory(settings.data).database))))


def db_upgrade(settings: Settings) -> None:
    async def upgrade() -> None:
        directory = DataDirectory(settings.data)
        directory.make()
        async with opened(_url(settings), directory.database):
            pass

    _run(upgrade())
    print(_in_words(HEAD))


def _run(work: Coroutine[Any, Any, Answer]) -> Answer:
    try:
        return asyncio.run(work)
    except StorageFailed as failure:
        raise CommandFailed(failure.message) from failure


def _in_words(revision: str | None) -> str:
    if revision is None:
        return "there is no database yet; parlour serve makes it"
    if revision == HEAD:
        return f"{revision}: as this release needs it"
    return f"{revision}: this release needs {HEAD}; parlour serve and parlour db upgrade bring it there"


def _url(settings: Settings) -> str:
    return settings.database.url.get_secret_value()


def _require_file(settings: Settings) -> None:
    if _url(settings):
        raise CommandFailed(ELSEWHERE)
