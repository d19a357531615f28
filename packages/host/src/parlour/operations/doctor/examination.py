"""All checks, one after the other."""

from collections.abc import AsyncIterator

from parlour.config import Settings
from parlour.data_directory import DataDirectory, DataDirectoryUnusable

from . import clock, installed, proxies, storage, surroundings
from .finding import Finding, problem


async def examine(settings: Settings) -> AsyncIterator[Finding]:
    try:
        DataDirectory(settings.data).make()
    except DataDirectoryUnusable as error:
        yield problem("data", error.message, "start with --data and a folder of your own")
        return
    for check in (storage.check, clock.check, surroundings.check, proxies.check, installed.check):
        async for finding in check(settings):
            yield finding
