"""Repeats work that the database refused or could not finish."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from .errors import StorageFailed

STORAGE_RETRY_SECONDS = 1.0
"""Seconds between attempts while the database fails."""

logger = logging.getLogger(__name__)
Result = TypeVar("Result")


async def retry_on_storage_failure(work: Callable[[], Awaitable[Result]], description: str) -> Result:
    """Calls `work` until it does not raise StorageFailed. `description` names the work in the log."""
    while True:
        try:
            return await work()
        except StorageFailed as failure:
            logger.error("%s waits for the database: %s", description, failure.message)
        await asyncio.sleep(STORAGE_RETRY_SECONDS)
