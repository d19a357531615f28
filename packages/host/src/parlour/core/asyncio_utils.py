"""Work that nobody may cut in two: what follows a commit has to follow it in this life of the Host."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

logger = logging.getLogger(__name__)


async def to_its_end(work: Coroutine[Any, Any, None], failed: str) -> None:
    """Also when whoever waits for it is cancelled; that goes on after it. `failed` tells the log what was not done."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("%s: %s", failed, error)
        raise
