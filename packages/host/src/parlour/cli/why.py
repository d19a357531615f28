"""`parlour why`: prints the trail of an event, run or platform message from the database, even if no Host runs."""

import asyncio
from datetime import datetime

from parlour.app.data_directory import DataDirectory, DataDirectoryUnusable
from parlour.app.log_setup import escape_unprintable
from parlour.app.settings import HostSettings
from parlour.core.journal import StorageFailed
from parlour.core.observability.explain.explanations import Explanation, Explanations
from parlour.core.system import SystemClock
from parlour.stores.factory import open_journal

from .main import CommandError


def print_explanations(settings: HostSettings, name: str) -> None:
    for explanation in _read_explanations(settings, name):
        print(f"event {escape_unprintable(explanation.event['event_id'])}")
        for step in explanation.steps:
            print(f"  {datetime.fromtimestamp(step.at / 1000):%Y-%m-%d %H:%M:%S}  {escape_unprintable(step.text)}")


def _read_explanations(settings: HostSettings, name: str) -> list[Explanation]:
    async def read() -> list[Explanation]:
        directory = DataDirectory(settings.data)
        directory.create()
        async with open_journal(settings.database.url.get_secret_value(), directory.database) as journal:
            trails = Explanations(journal, SystemClock())
            return [await trails.explain(event) for event in await trails.find_events(name)]

    try:
        explanations = asyncio.run(read())
    except DataDirectoryUnusable as error:
        raise CommandError(str(error)) from error
    except StorageFailed as error:
        raise CommandError(error.message) from error
    if not explanations:
        raise CommandError(f"no event, run or message has the id '{name}' in this data directory")
    return explanations
