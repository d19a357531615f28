"""Queues outbox rows per target, so that they are sent in order. `sender` sends one row.

A waiting row blocks only later rows of its own target.
"""

import asyncio
import logging
from collections import deque
from functools import partial

from parlour.core.cluster.ownership import Ownership
from parlour.core.cluster.parts import part_of
from parlour.core.journal import GuardFailed, Journal, StorageFailed, Unit, retry_on_storage_failure
from parlour.core.journal.retry import STORAGE_RETRY_SECONDS
from parlour.core.model.ids import OutboxId, PartId
from parlour.core.model.outbox_row import OutboxRow, OutboxState
from parlour.core.model.ports import Clock, SendReceipt
from parlour.core.store import outbox_rows
from parlour.core.store.outbox_rows import OutboxStore

from .row_states import FINAL_STATES, SendOutcome
from .sender import Sender, with_interrupted_attempt

logger = logging.getLogger(__name__)

CLOSE_TIMEOUT_SECONDS = 1.0
"""Seconds that sends in progress may take to be acknowledged while the Host stops."""


class Outbox:
    """Runs one task per target with waiting rows, and reports the final states of rows that are watched."""

    def __init__(self, journal: Journal, sender: Sender, ownership: Ownership, clock: Clock) -> None:
        self._journal = journal
        self._rows = OutboxStore(journal)
        self._sender = sender
        self._ownership = ownership
        self._clock = clock
        self._queues: dict[str, deque[OutboxRow]] = {}
        self._drains: dict[str, asyncio.Task[None]] = {}
        self._closing = False
        self._draining: set[PartId] = set()
        """Parts that this Host gives away, of which nothing more is sent."""
        self._watchers: dict[OutboxId, asyncio.Future[SendOutcome]] = {}

    def watch(self, outbox_id: OutboxId) -> "asyncio.Future[SendOutcome]":
        """Returns a future of the row's final state. Must be called before the row is enqueued."""
        self._watchers[outbox_id] = asyncio.get_running_loop().create_future()
        return self._watchers[outbox_id]

    def unwatch(self, outbox_id: OutboxId) -> None:
        self._watchers.pop(outbox_id, None)

    def handles(self, surface: str) -> bool:
        """Returns whether rows of this surface are sent. Clients of other surfaces read them back; they are sent when
        committed.
        """
        return self._sender.handles(surface)

    def try_reserve(self, target: str) -> OutboxState:
        """Reserves an idle target and returns the state to commit: its first row is stored as `sending` and sent
        directly.
        """
        if target in self._queues:
            return "pending"
        self._queues[target] = deque()
        return "sending"

    def release(self, target: str) -> None:
        """Cancels a reservation whose row will not come."""
        if target not in self._drains and not self._queues.get(target, True):
            del self._queues[target]

    def enqueue(self, row: OutboxRow) -> None:
        """Appends a committed row to the queue of its target. The Host that owns its part finds and sends it."""
        part = _part(row)
        if not self._ownership.holds(part) or (part in self._draining and row.state != "sending"):
            return
        self._queues.setdefault(row.target, deque()).append(row)
        if row.target not in self._drains:
            self._drains[row.target] = asyncio.create_task(self._drain(row.target))

    async def wait_idle(self, target: str) -> None:
        """Returns when no rows wait for this target."""
        while drain_task := self._drains.get(target):
            await asyncio.wait([drain_task])

    async def recover(self, part: PartId | None = None) -> None:
        """Recovers rows after a restart: rows that waited or were never sent wait again, interrupted sends are
        uncertain. `part` limits it to the rows of a part that this Host has taken over.
        """
        if part is not None:
            self._draining.discard(part)
        queued_ids = {row.outbox_id for queue in self._queues.values() for row in queue}
        rows = [
            row
            for row in await self._rows.unfinished(part)
            if self.handles(row.surface) and row.outbox_id not in queued_ids
        ]
        await self._sender.load_log(rows)
        unsent = {row.outbox_id: row for row in rows if self._sender.was_not_sent(row)}
        if unsent:
            now = self._clock.now()
            statements = [outbox_rows.transition(row, "sending", "pending", now) for row in unsent.values()]
            await self._journal.commit(Unit("outbox.never_left", tuple(statements)))
        for row in rows:
            self.enqueue(row.with_state("pending") if row.outbox_id in unsent else with_interrupted_attempt(row))

    def is_queued(self, target: str, outbox_id: OutboxId) -> bool:
        """Returns whether a row waits here or is being sent."""
        return any(each.outbox_id == outbox_id for each in self._queues.get(target, ()))

    async def drain(self, part: PartId, seconds: float) -> None:
        """Stops sending rows of a part that this Host gives away. Sends in progress may end within this time."""
        self._draining.add(part)
        targets = [target for target, queue in self._queues.items() if queue and _part(queue[0]) == part]
        tasks = [self._drains[target] for target in targets if target in self._drains]
        in_flight = [self._drains[target] for target in targets if self._sender.is_committed(target)]
        for task in tasks:
            if task not in in_flight:
                task.cancel()
        if in_flight:
            await asyncio.wait(in_flight, timeout=seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for target in targets:
            if target not in self._drains:
                self._queues.pop(target, None)

    async def close(self) -> None:
        """Stops sending. Sends in progress may still be acknowledged for a moment, so that they are not uncertain
        later.
        """
        self._closing = True
        self._sender.stop()
        in_flight = [drain_task for target, drain_task in self._drains.items() if self._sender.is_in_flight(target)]
        if in_flight:
            await asyncio.wait(in_flight, timeout=CLOSE_TIMEOUT_SECONDS)
        drain_tasks = list(self._drains.values())
        for drain_task in drain_tasks:
            drain_task.cancel()
        await asyncio.gather(*drain_tasks, return_exceptions=True)

    async def _drain(self, target: str) -> None:
        queue = self._queues[target]
        try:
            while queue and not self._closing and self._may_send(queue[0]):
                try:
                    outcome = await self._sender.deliver(queue[0], partial(self._is_last, queue[0]))
                    if outcome is not None:
                        self._finish(queue[0], outcome)
                except (StorageFailed, GuardFailed) as error:
                    logger.error("outbox row %s waits for the database: %s", queue[0].outbox_id, error)
                    reloaded = await self._reload(queue[0])
                    if reloaded is not None:
                        queue[0] = reloaded
                        continue
                except Exception:  # a row that the Host fails to handle must not block the rows after it
                    logger.exception("outbox row %s could not be handled", queue[0].outbox_id)
                    await self._fail_after_error(queue[0])
                queue.popleft()
        finally:
            del self._drains[target]
            if not queue:
                del self._queues[target]

    def _may_send(self, row: OutboxRow) -> bool:
        part = _part(row)
        return self._ownership.holds(part) and (part not in self._draining or row.state == "sending")

    def _is_last(self, row: OutboxRow) -> bool:
        """Returns whether no row waits behind this one and nothing watches it, so that its commit may be delayed."""
        return len(self._queues[row.target]) <= 1 and row.outbox_id not in self._watchers

    def _finish(self, row: OutboxRow, outcome: SendOutcome) -> None:
        """Reports the final state of a row, and queues the notices about it."""
        watcher = self._watchers.pop(row.outbox_id, None)
        if watcher is not None and not watcher.done():
            watcher.set_result(outcome)
        for notice in outcome.notices:
            self.enqueue(notice)

    async def _fail_after_error(self, row: OutboxRow) -> None:
        """Marks a row as failed after an internal error. If that fails too, the next start recovers it."""
        while (reloaded := await self._reload(row)) is not None:
            try:
                self._finish(reloaded, await self._sender.fail_after_error(reloaded))
                return
            except (StorageFailed, GuardFailed) as error:
                logger.error("outbox row %s waits for the database: %s", row.outbox_id, error)
            except Exception:
                logger.exception("outbox row %s is left for the next start", row.outbox_id)
                return

    async def _reload(self, row: OutboxRow) -> OutboxRow | None:
        """Reloads a row after a storage failure, because the failed unit may have been committed nevertheless. Returns
        None if the row is in a final state.
        """
        await asyncio.sleep(STORAGE_RETRY_SECONDS)
        read = partial(self._rows.get, row.outbox_id)
        reloaded = await retry_on_storage_failure(read, f"outbox row {row.outbox_id} still")
        if reloaded is None:
            return None
        if reloaded.state in (*FINAL_STATES, "held"):
            self._finish(reloaded, SendOutcome(reloaded.state, reloaded.reason, SendReceipt(reloaded.message_id)))
            return None
        return reloaded if self._sender.was_not_sent(reloaded) else with_interrupted_attempt(reloaded)


def _part(row: OutboxRow) -> PartId:
    return part_of(row.bot_id, row.conversation_id)
