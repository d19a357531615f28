"""Queues outbox rows per target, so that they are sent in order. `sender` sends one row.

A waiting row blocks only later rows of its own target.
"""

import asyncio
import logging
from collections import deque
from functools import partial

from parlour.core.journal import GuardFailed, Journal, StorageFailed, Unit, retry_on_storage_failure
from parlour.core.journal.retry import STORAGE_RETRY_SECONDS
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

    def __init__(self, journal: Journal, sender: Sender, clock: Clock) -> None:
        self._journal = journal
        self._rows = OutboxStore(journal)
        self._sender = sender
        self._clock = clock
        self._waiting: dict[str, deque[OutboxRow]] = {}
        self._drains: dict[str, asyncio.Task[None]] = {}
        self._closing = False
        self._watched: dict[str, asyncio.Future[SendOutcome]] = {}

    def watch(self, outbox_id: str) -> "asyncio.Future[SendOutcome]":
        """Returns a future of the row's final state. Must be called before the row is enqueued."""
        self._watched[outbox_id] = asyncio.get_running_loop().create_future()
        return self._watched[outbox_id]

    def unwatch(self, outbox_id: str) -> None:
        self._watched.pop(outbox_id, None)

    def handles(self, surface: str) -> bool:
        """Returns whether rows of this surface are sent. Clients of other surfaces read them back; they are sent when
        committed.
        """
        return self._sender.handles(surface)

    def try_reserve(self, target: str) -> OutboxState:
        """Reserves an idle target and returns the state to commit: its first row is stored as `sending` and sent
        directly.
        """
        if target in self._waiting:
            return "pending"
        self._waiting[target] = deque()
        return "sending"

    def release(self, target: str) -> None:
        """Cancels a reservation whose row will not come."""
        if target not in self._drains and not self._waiting.get(target, True):
            del self._waiting[target]

    def enqueue(self, row: OutboxRow) -> None:
        """Appends a committed row to the queue of its target."""
        self._waiting.setdefault(row.target, deque()).append(row)
        if row.target not in self._drains:
            self._drains[row.target] = asyncio.create_task(self._drain(row.target))

    async def wait_idle(self, target: str) -> None:
        """Returns when no rows wait for this target."""
        while drain := self._drains.get(target):
            await asyncio.wait([drain])

    async def recover(self) -> None:
        """Recovers rows after a restart: rows that waited or were never sent wait again, interrupted sends are
        uncertain.
        """
        known = {row.outbox_id for waiting in self._waiting.values() for row in waiting}
        rows = [
            row for row in await self._rows.unfinished() if self.handles(row.surface) and row.outbox_id not in known
        ]
        await self._sender.load_log(rows)
        kept = {row.outbox_id: row for row in rows if self._sender.was_not_sent(row)}
        if kept:
            now = self._clock.now()
            back = [outbox_rows.transition(row, "sending", "pending", now) for row in kept.values()]
            await self._journal.commit(Unit("outbox.never_left", tuple(back)))
        for row in rows:
            self.enqueue(row.with_state("pending") if row.outbox_id in kept else with_interrupted_attempt(row))

    async def close(self) -> None:
        """Stops sending. Sends in progress may still be acknowledged for a moment, so that they are not uncertain
        later.
        """
        self._closing = True
        self._sender.stop()
        under_way = [drain for target, drain in self._drains.items() if self._sender.is_in_flight(target)]
        if under_way:
            await asyncio.wait(under_way, timeout=CLOSE_TIMEOUT_SECONDS)
        drains = list(self._drains.values())
        for drain in drains:
            drain.cancel()
        await asyncio.gather(*drains, return_exceptions=True)

    async def _drain(self, target: str) -> None:
        waiting = self._waiting[target]
        try:
            while waiting and not self._closing:
                try:
                    outcome = await self._sender.deliver(waiting[0], partial(self._is_last, waiting[0]))
                    if outcome is not None:
                        self._finish(waiting[0], outcome)
                except (StorageFailed, GuardFailed) as error:
                    logger.error("outbox row %s waits for the database: %s", waiting[0].outbox_id, error)
                    again = await self._reload(waiting[0])
                    if again is not None:
                        waiting[0] = again
                        continue
                except Exception:  # a row that the Host fails to handle must not block the rows after it
                    logger.exception("outbox row %s could not be handled", waiting[0].outbox_id)
                    await self._fail_after_error(waiting[0])
                waiting.popleft()
        finally:
            del self._drains[target]
            if not waiting:
                del self._waiting[target]

    def _is_last(self, row: OutboxRow) -> bool:
        """Returns whether no row waits behind this one and nothing watches it, so that its commit may be delayed."""
        return len(self._waiting[row.target]) <= 1 and row.outbox_id not in self._watched

    def _finish(self, row: OutboxRow, outcome: SendOutcome) -> None:
        """Reports the final state of a row, and queues the notices about it."""
        watched = self._watched.pop(row.outbox_id, None)
        if watched is not None and not watched.done():
            watched.set_result(outcome)
        for notice in outcome.notices:
            self.enqueue(notice)

    async def _fail_after_error(self, row: OutboxRow) -> None:
        """Marks a row as failed after an internal error. If that fails too, the next start recovers it."""
        while (known := await self._reload(row)) is not None:
            try:
                self._finish(known, await self._sender.fail_after_error(known))
                return
            except (StorageFailed, GuardFailed) as error:
                logger.error("outbox row %s waits for the database: %s", row.outbox_id, error)
            except Exception:
                logger.exception("outbox row %s is left for the next start", row.outbox_id)
                return

    async def _reload(self, row: OutboxRow) -> OutboxRow | None:
        """Reloads a row after a storage failure, because the failed unit may have been committed all the same. Returns
        None if the row is in a final state.
        """
        await asyncio.sleep(STORAGE_RETRY_SECONDS)
        read = partial(self._rows.get, row.outbox_id)
        known = await retry_on_storage_failure(read, f"outbox row {row.outbox_id} still")
        if known is None:
            return None
        if known.state in FINAL_STATES:
            self._finish(known, SendOutcome(known.state, known.reason, SendReceipt(known.message_id)))
            return None
        return known if self._sender.was_not_sent(known) else with_interrupted_attempt(known)
