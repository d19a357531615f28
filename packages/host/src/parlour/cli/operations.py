"""`parlour backup` and `restore`."""

import asyncio
import sys
from functools import partial
from pathlib import Path

from parlour.app.data_directory import DataDirectory
from parlour.app.settings import HostSettings
from parlour.core.journal import StorageFailed
from parlour.core.store.tables import MODEL_CALLS
from parlour.operations import backup as backups
from parlour.operations import restore as restoring
from parlour.stores.factory import current_revision, dump, load
from parlour.version import VERSION

from .main import CommandError


def backup(settings: HostSettings, file: Path, without_model_calls: bool = False) -> None:
    directory, url = DataDirectory(settings.data), _url(settings)
    try:
        revision = asyncio.run(current_revision(url, directory.database))
        copy = partial(_dump, url) if url else backups.file_copier(directory.database)
        excluded_tables = (MODEL_CALLS,) if without_model_calls else ()
        result = backups.write_backup(directory, file, VERSION, revision, copy, excluded_tables)
    except backups.BackupFailed as failure:
        raise CommandError(str(failure)) from failure
    except StorageFailed as failure:
        raise CommandError(failure.message) from failure
    for each in result.skipped:  # a name may contain any character, so its repr is printed
        print(f"parlour: warning: not in the backup: {each.name!r}: {each.reason}", file=sys.stderr)
    print(f"{result.file}: {result.size_bytes:,} bytes; it holds the key to every secret, so keep it safe")


def restore(settings: HostSettings, file: Path) -> None:
    url = _url(settings)
    try:
        manifest = restoring.restore_backup(
            file, DataDirectory(settings.data).path, partial(_load, url) if url else None
        )
    except restoring.RestoreFailed as failure:
        raise CommandError(str(failure)) from failure
    except StorageFailed as failure:
        raise CommandError(failure.message) from failure
    print(f"{settings.data}: as it was in the backup of Parlour {manifest['version']}; start it with parlour serve")


def _url(settings: HostSettings) -> str:
    return settings.database.url.get_secret_value()


def _dump(url: str, target: Path) -> None:
    asyncio.run(dump(url, target))


def _load(url: str, file: Path) -> None:
    asyncio.run(load(file, url))
