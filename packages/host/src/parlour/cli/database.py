"""`parlour db`: commands that concern the schema of the database."""

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

from parlour.app.data_directory import DataDirectory
from parlour.app.settings import HostSettings
from parlour.core.journal import StorageFailed
from parlour.operations.database_check import check_database
from parlour.stores.factory import current_revision, open_journal
from parlour.stores.migrate import HEAD

from .main import CommandError

Answer = TypeVar("Answer")


def print_current(settings: HostSettings) -> None:
    """Prints the revision of the database."""
    print(_describe_revision(_run(current_revision(_url(settings), DataDirectory(settings.data).database))))


def upgrade(settings: HostSettings, without_copy: bool = False) -> None:
    """Migrates the database to this release."""

    async def migrate() -> None:
        directory = DataDirectory(settings.data)
        directory.create()
        async with open_journal(_url(settings), directory.database, copy_before_upgrade=not without_copy):
            pass

    _run(migrate())
    print(_describe_revision(HEAD))


def check(settings: HostSettings, attempt: bool = False) -> None:
    """Prints what a start would do to the database. The exit status is 1 if the start would fail."""

    async def find() -> bool:
        failed = False
        async for finding in check_database(settings, attempt):
            print(finding, flush=True)
            failed = failed or finding.state == "problem"
        return failed

    if _run(find()):
        sys.exit(1)


def _run(work: Coroutine[Any, Any, Answer]) -> Answer:
    try:
        return asyncio.run(work)
    except StorageFailed as failure:
        raise CommandError(failure.message) from failure


def _describe_revision(revision: str | None) -> str:
    if revision is None:
        return "there is no database yet; parlour serve makes it"
    if revision == HEAD:
        return f"{revision}: as this release needs it"
    return f"{revision}: this release needs {HEAD}; parlour serve and parlour db upgrade bring it there"


def _url(settings: HostSettings) -> str:
    return settings.database.url.get_secret_value()
