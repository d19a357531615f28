"""Progress of a running job: reported by its handler, stored at most once a second, and sent to the live feed."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from parlour.core.journal import Statement, StorageFailed
from parlour_sdk.values import dataclass

logger = logging.getLogger(__name__)

WRITE_INTERVAL_SECONDS = 1.0
"""Smallest number of seconds between two writes of a job's progress, unless its stage changes."""


@dataclass(frozen=True, slots=True)
class ProgressValues:
    """Progress of a job: its stage, and what is done of the total."""

    stage: str = ""
    done: int = 0
    total: int = 0
    """0 if the total is not known."""
    message: str = ""


class JobProgress:
    """Receives the progress of one attempt, and passes on the request to cancel it."""

    def __init__(
        self,
        values: ProgressValues,
        write: Callable[[ProgressValues], Awaitable[None]],
        guards: Sequence[Statement] = (),
    ) -> None:
        self.values = values
        self.guards = guards
        """Statements for units of the attempt before its end: they fail if another Host has taken over the job."""
        self._write = write
        self._written_at: float | None = None
        self._cancelled = asyncio.Event()

    @property
    def is_cancelled(self) -> bool:
        """True if the job is to be cancelled."""
        return self._cancelled.is_set()

    async def wait_cancelled(self) -> None:
        """Waits until the job is to be cancelled."""
        await self._cancelled.wait()

    def cancel(self) -> None:
        """Requests that the attempt ends."""
        self._cancelled.set()

    async def report(
        self, stage: str | None = None, done: int | None = None, total: int | None = None, message: str | None = None
    ) -> None:
        """Changes the given values. They are stored at once if the stage changes, otherwise at most once a second."""
        before = self.values
        self.values = ProgressValues(
            before.stage if stage is None else stage,
            before.done if done is None else done,
            before.total if total is None else total,
            before.message if message is None else message,
        )
        now = asyncio.get_running_loop().time()
        is_due = self._written_at is None or now - self._written_at >= WRITE_INTERVAL_SECONDS
        if self.values == before or not (is_due or self.values.stage != before.stage):
            return
        self._written_at = now
        try:
            await self._write(self.values)
        except StorageFailed as failure:
            logger.warning("the progress of a job was not stored: %s", failure.message)
