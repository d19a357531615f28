"""`parlour keys`: manages API keys directly in the database, whether the Host runs or not."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from parlour.app.data_directory import DataDirectory, DataDirectoryUnusable
from parlour.app.settings import HostSettings
from parlour.core.access.keys import ApiKeys, Scope
from parlour.core.journal import StorageFailed
from parlour.core.model.ids import ApiKeyId
from parlour.core.system import SystemClock, SystemIds
from parlour.stores.factory import open_journal

from .main import CommandError

Answer = TypeVar("Answer")


def create(settings: HostSettings, name: str, scope: Scope, labels: list[str], runners: list[str]) -> None:
    """Creates a key and prints only its secret, so that a script can read it."""
    if scope != "worker" and (labels or runners):
        raise CommandError("--label and --runner bind keys of workers; add --scope worker")
    print(_with_keys(settings, lambda keys: keys.create(name, scope, labels=labels, runners=runners))[0])


def list_keys(settings: HostSettings) -> None:
    """Prints all keys, one per line."""
    for key in _with_keys(settings, lambda keys: keys.all()):
        state = "revoked" if key.revoked_at else "active"
        print(f"{key.key_id}  {state:8} {key.scope:9} {key.name}")


def revoke(settings: HostSettings, key_id: str) -> None:
    if not _with_keys(settings, lambda keys: keys.revoke(ApiKeyId(key_id))):
        raise CommandError(f"no active key has the id '{key_id}'; 'parlour keys list' shows them")


def _with_keys(settings: HostSettings, work: Callable[[ApiKeys], Awaitable[Answer]]) -> Answer:
    async def run() -> Answer:
        directory = DataDirectory(settings.data)
        directory.create()
        async with open_journal(settings.database.url.get_secret_value(), directory.database) as journal:
            return await work(ApiKeys(journal, SystemIds(), SystemClock()))

    try:
        return asyncio.run(run())
    except DataDirectoryUnusable as error:
        raise CommandError(str(error)) from error
    except StorageFailed as error:
        raise CommandError(error.message) from error
