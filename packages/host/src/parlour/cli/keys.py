"""`parlour keys`: manages API keys directly in the database, whether the Host runs or not."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from parlour.app.data_directory import DataDirectory, DataDirectoryUnusable
from parlour.app.settings import Settings
from parlour.core.access.keys import ApiKeys, Scope
from parlour.core.journal import StorageFailed
from parlour.core.system import SystemClock, SystemIds
from parlour.stores.factory import opened

from .main import CommandFailed

Answer = TypeVar("Answer")


def create(settings: Settings, name: str, scope: Scope) -> None:
    """Creates a key and prints only its secret, so that a script can read it."""
    print(_with_keys(settings, lambda keys: keys.create(name, scope))[0])


def show(settings: Settings) -> None:
    """Prints all keys, one per line."""
    for key in _with_keys(settings, lambda keys: keys.all()):
        state = "revoked" if key.revoked_at else "active"
        print(f"{key.key_id}  {state:8} {key.scope:9} {key.name}")


def revoke(settings: Settings, key_id: str) -> None:
    if not _with_keys(settings, lambda keys: keys.revoke(key_id)):
        raise CommandFailed(f"no active key has the id '{key_id}'; 'parlour keys list' shows them")


def _with_keys(settings: Settings, work: Callable[[ApiKeys], Awaitable[Answer]]) -> Answer:
    async def run() -> Answer:
        directory = DataDirectory(settings.data)
        directory.make()
        async with opened(settings.database.url.get_secret_value(), directory.database) as journal:
            return await work(ApiKeys(journal, SystemIds(), SystemClock()))

    try:
        return asyncio.run(run())
    except DataDirectoryUnusable as error:
        raise CommandFailed(str(error)) from error
    except StorageFailed as error:
        raise CommandFailed(error.message) from error
