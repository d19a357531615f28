"""Helpers for asyncio: work that must not be interrupted, such as the steps that follow a commit."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

logger = logging.getLogger(__name__)


async def to_its_end(work: Coroutine[Any, Any, None], failed: str) -> None:
    """Runs a coroutine to its end even if the caller is cancelled, and only then raises the cancellation.

    Used for work that has to follow a commit before the process exits. If the work fails while its caller is being
    cancelled, the error is logged, with `failed` as the description of the work that was not done.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("%s: %s", failed, error)
        raise
