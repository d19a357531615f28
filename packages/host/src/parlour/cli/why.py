"""`parlour why`: prints the trail of an event, run or platform message from the database, even if no Host runs."""

import asyncio
from datetime import datetime

from parlour.app.data_directory import DataDirectory, DataDirectoryUnusable
from parlour.app.log_setup import one_line
from parlour.app.settings import Settings
from parlour.core.journal import StorageFailed
from parlour.core.observability.explain.explanations import Found, Trails
from parlour.core.system import SystemClock
from parlour.stores.factory import opened

from .main import CommandFailed


def show(settings: Settings, name: str) -> None:
    for found in _trails(settings, name):
        print(f"event {one_line(found.event['event_id'])}")
        for step in found.steps:
            print(f"  {datetime.fromtimestamp(step.at / 1000):%Y-%m-%d %H:%M:%S}  {one_line(step.text)}")


def _trails(settings: Settings, name: str) -> list[Found]:
    async def read() -> list[Found]:
        directory = DataDirectory(settings.data)
        directory.make()
        async with opened(settings.database.url.get_secret_value(), directory.database) as journal:
            trails = Trails(journal, SystemClock())
            return [await trails.of(event) for event in await trails.find(name)]

    try:
        found = asyncio.run(read())
    except DataDirectoryUnusable as error:
        raise CommandFailed(str(error)) from error
    except StorageFailed as error:
        raise CommandFailed(error.message) from error
    if not found:
        raise CommandFailed(f"no event, run or message has the id '{name}' in this data directory")
    return found
