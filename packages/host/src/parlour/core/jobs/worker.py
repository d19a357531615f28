"""Works on the jobs of one kind and key: one after the other, each when its next attempt is due."""

import asyncio
import logging
from collections.abc import Callable

from parlour.core.journal import retry_on_storage_failure
from parlour.core.model.ports import Clock

from .attempts import JobAttempts
from .job import JobHandler
from .job_rows import NextJob
from .queue import JobQueue

logger = logging.getLogger(__name__)


class KeyWorker:
    """The task of one key. It ends when the key has no open jobs."""

    task: asyncio.Task[None]

    def __init__(
        self, queue: JobQueue, handler: JobHandler, attempts: JobAttempts, clock: Clock, order_key: str
    ) -> None:
        self._queue = queue
        self._handler = handler
        self._attempts = attempts
        self._clock = clock
        self._order_key = order_key
        self._woken = asyncio.Event()
        self._waited_until = 0
        """Epoch milliseconds up to which it has waited; the clock may have been set back in the meantime."""

    def start(self, on_end: Callable[[], object]) -> None:
        """Starts the task. `on_end` is called when it ends."""
        self.task = asyncio.create_task(self._work(on_end))

    def wake(self) -> None:
        """Makes the worker look for jobs again."""
        self._woken.set()

    async def _work(self, on_end: Callable[[], object]) -> None:
        try:
            while await self._step():
                pass
        except Exception:
            logger.exception(
                "jobs of the kind '%s' with the key '%s' are left for the next start",
                self._handler.kind,
                self._order_key,
            )
        finally:
            on_end()

    async def _step(self) -> bool:
        """Makes the next attempt or waits for it. Returns False if there is nothing left to do."""
        self._woken.clear()
        name = f"the queue of '{self._handler.kind}' jobs for {self._order_key}"
        found = await retry_on_storage_failure(self._find_next, name)
        now = self._now()
        if found.job is not None and (found.due_at <= now or self._attempts.may_take_over(found.job)):
            await self._attempts.attempt(self._handler, found.job)
        elif found.due_at:
            await self._wait(found.due_at, now)
        else:
            return self._woken.is_set()
        return True

    async def _find_next(self) -> NextJob:
        return await self._queue.next(self._handler.kind, self._order_key, self._now())

    def _now(self) -> int:
        return max(self._clock.now(), self._waited_until)

    async def _wait(self, due_at: int, now: int) -> None:
        try:
            async with asyncio.timeout((due_at - now) / 1000):
                await self._woken.wait()
        except TimeoutError:
            self._waited_until = due_at
