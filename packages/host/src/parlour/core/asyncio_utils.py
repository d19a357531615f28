"""Helpers for asyncio: work that must not be interrupted, the first of several, and tasks in the background."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

logger = logging.getLogger(__name__)
Result = TypeVar("Result")


async def run_uncancelled(work: Coroutine[Any, Any, None], failure_message: str) -> None:
    """Runs a coroutine to its end even if the caller is cancelled, and only then raises the cancellation.

    Used for work that has to follow a commit before the process exits. If the work fails while its caller is being
    cancelled, the error is logged, with `failure_message` as the description of the work that was not done.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("%s: %s", failure_message, error)
        raise


async def first_completed(*coroutines: Coroutine[Any, Any, Result]) -> Result:
    """Returns or raises what the first to complete does. The others are cancelled and have ended by then."""
    tasks = [asyncio.ensure_future(each) for each in coroutines]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task for task in tasks if task in done).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class BackgroundTasks:
    """Holds the background tasks of one owner, so that none is garbage-collected, lost in silence or left running."""

    def __init__(self, failure_message: str) -> None:
        """`failure_message` is what the log says when a task ends with an error."""
        self._failure_message = failure_message
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, Any], name: str | None = None) -> asyncio.Task[Any]:
        """Starts a task. It is held until it ends; its error is logged."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)
        return task

    async def join(self) -> None:
        """Waits until all tasks have ended, also those that start in the meantime."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def aclose(self) -> None:
        """Cancels all tasks and waits until they have ended."""
        for task in self._tasks:
            task.cancel()
        await self.join()

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("%s: %s", self._failure_message, error, exc_info=error)
