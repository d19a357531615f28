"""The lane of one conversation: its waiting events, and the reservation of its next turn."""

import asyncio
from collections.abc import Awaitable, Callable

from parlour.core.model.ids import PartId

from .session import QueuedEvent, StartedRun

Prepare = Callable[[StartedRun], Awaitable[None]]


class Lane:
    """The waiting events of one conversation, and the tasks that handle them."""

    def __init__(self, part: PartId) -> None:
        self.part = part
        self.waiting: list[QueuedEvent] = []
        self.task: asyncio.Task[None] | None = None
        self.steering_task: asyncio.Task[None] | None = None
        self.suspended_task: asyncio.Task[None] | None = None
        """Task that waits while the lane is suspended, such as for a run that is executed elsewhere."""
        self.handling = False
        self._changed: asyncio.Event | None = None
        self.current = 0
        self.failing_seq = 0
        """Number of the event whose handling failed last; `failures` counts its failures."""
        self.failures = 0

    def add(self, position: int, entry: QueuedEvent) -> None:
        self.waiting.insert(position, entry)
        if self._changed is not None:
            self._changed.set()

    async def wait_changed(self) -> None:
        """Returns when another event was added."""
        self._changed = asyncio.Event()
        await self._changed.wait()


class LaneReservation:
    """The reserved next turn of an idle lane, with its slot; it ends with `start` or `release`."""

    def __init__(self, prepare: Prepare) -> None:
        self._prepare = prepare
        self._event: asyncio.Future[QueuedEvent | None] = asyncio.get_running_loop().create_future()
        self.started_run: StartedRun | None = None
        """Run that is written together with the event; it is prepared before the wait for the event."""

    async def wait(self) -> QueuedEvent | None:
        """Returns the event to handle, or None if the reservation was released."""
        await asyncio.sleep(0)  # lets the caller write the event first
        if self.started_run is not None:
            await self._prepare(self.started_run)
        return await self._event

    def start(self, entry: QueuedEvent) -> None:
        self._event.set_result(entry)

    def release(self) -> None:
        self._event.set_result(None)
