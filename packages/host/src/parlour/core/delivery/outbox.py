"""Sends outbox rows to platforms: in order per target, marked `sending` before the call and final after it.

A waiting row blocks only later rows of its own target. An uncertain send is resolved by asking the platform, by sending
again under the same key, or, for a text, by sending once more with a note; an action is never repeated. After a kill,
the send log shows which sends are uncertain.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field, replace
from typing import Protocol

from parlour.core.journal import GuardFailed, Journal, StorageFailed, Unit, UnitBuilder
from parlour.core.model.outbox_row import OutboxRow, OutboxState
from parlour.core.model.ports import Clock, SendReceipt, SendRefused, SendUncertain, Surface
from parlour.core.store import outbox_rows
from parlour.core.store.outbox_rows import OutboxStore
from parlour_sdk.values import dataclass

from .failure_notices import FailureCode
from .send_log import NullSendLog, SendLog
from .send_serializer import SendSerializer
from .streaming.streamed_message import STREAMED

logger = logging.getLogger(__name__)


class SentMessageHook(Protocol):
    """Called for each message that was sent."""

    def add_events(self, draft: UnitBuilder, row: OutboxRow) -> None:
        """Adds statements to the unit that marks the row as sent."""
        ...

    def after_commit(self, row: OutboxRow) -> None: ...


class FailedMessageHook(Protocol):
    """Called for each row that failed, to inform its sender."""

    async def add_notices(self, draft: UnitBuilder, row: OutboxRow, code: FailureCode) -> list[OutboxRow]:
        """Adds notices to the unit that marks the row as failed, and returns them to be sent."""
        ...

    def after_commit(self, notice: OutboxRow) -> None: ...


@dataclass(frozen=True, slots=True)
class SendOutcome:
    """The final state of a row."""

    state: OutboxState
    reason: str = ""
    sent: SendReceipt = field(default_factory=SendReceipt)


FINAL_STATES: tuple[OutboxState, ...] = ("sent", "failed", "expired")
"""States in which a row is not sent any more."""
MAX_ATTEMPTS = 5
"""Attempts before a row fails. Waiting for an offline platform, or until a time that the platform named, uses up none:
such a row is retried until it expires.
"""
FIRST_RETRY_SECONDS = 1.0
"""Seconds before the first retry after a failure; each further one waits four times as long."""
OFFLINE_RETRY_SECONDS = 0.5
"""Minimum seconds before a retry if the platform is offline or named a time."""
MAX_OFFLINE_RETRY_SECONDS = 30.0
"""Maximum seconds between two retries while the platform is offline."""
MAX_RETRY_SECONDS = 300.0
"""Maximum seconds between two retries after failures."""
SEND_TIMEOUT_SECONDS = 60.0
"""Seconds before a send without acknowledgement becomes uncertain."""
STORAGE_RETRY_SECONDS = 1.0
"""Seconds between two tries to reach the database."""
CLOSE_TIMEOUT_SECONDS = 1.0
"""Seconds that sends in progress may take to be acknowledged while the Host stops."""


class Outbox:
    """Queues rows per target and sends them; tracks their states, retries and uncertain sends."""

    def __init__(
        self,
        journal: Journal,
        surfaces: Mapping[str, Surface],
        responses: SentMessageHook,
        losses: FailedMessageHook,
        clock: Clock,
        handovers: SendLog | None = None,
    ) -> None:
        self._journal = journal
        self._rows = OutboxStore(journal)
        self._surfaces = surfaces
        self._clock = clock
        self._sent_hook = responses
        self._failed_hook = losses
        self._send_log = handovers or NullSendLog()
        self._waiting: dict[str, deque[OutboxRow]] = {}
        self._drains: dict[str, asyncio.Task[None]] = {}
        self._serializer = SendSerializer()
        self._in_flight: set[str] = set()
        """Targets with a send that the platform has not acknowledged yet."""
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
        return surface in self._surfaces

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
        await self._send_log.load([row.outbox_id for row in rows if row.state == "sending"])
        kept = {row.outbox_id: row for row in rows if self._was_not_sent(row)}
        if kept:
            now = self._clock.now()
            back = [outbox_rows.transition(row, "sending", "pending", now) for row in kept.values()]
            await self._journal.commit(Unit("outbox.never_left", tuple(back)))
        for row in rows:
            self.enqueue(row.with_state("pending") if row.outbox_id in kept else _count_interrupted_attempt(row))

    def _was_not_sent(self, row: OutboxRow) -> bool:
        """Returns whether a `sending` row certainly was not sent. Not for a retried row: the log of an earlier try may
        be gone.
        """
        return row.state == "sending" and not (
            row.attempts or _may_be_partly_shown(row) or self._send_log.was_started(row.outbox_id)
        )

    async def close(self) -> None:
        """Stops sending. Sends in progress may still be acknowledged for a moment, so that they are not uncertain
        later.
        """
        self._closing = True
        under_way = [drain for target, drain in self._drains.items() if target in self._in_flight]
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
                    await self._deliver(waiting[0])
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

    async def _fail_after_error(self, row: OutboxRow) -> None:
        """Marks a row as failed after an internal error, in whatever state it is. If that fails too, the next start
        recovers it.
        """
        while (known := await self._reload(row)) is not None:
            code: FailureCode = "delivery.unknown" if known.attempts else "delivery.refused"
            try:
                await self._fail(known, "the Host failed at it; the log says where", code)
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
        while True:
            await asyncio.sleep(STORAGE_RETRY_SECONDS)
            try:
                known = await self._rows.get(row.outbox_id)
            except StorageFailed as error:
                logger.error("outbox row %s still waits for the database: %s", row.outbox_id, error.message)
                continue
            if known is None:
                return None
            if known.state in FINAL_STATES:
                self._notify_watcher(known, SendOutcome(known.state, known.reason, SendReceipt(known.message_id)))
                return None
            return known if self._was_not_sent(known) else _count_interrupted_attempt(known)

    async def _deliver(self, row: OutboxRow) -> None:
        surface = self._surfaces[row.surface]
        if row.attempts and (row.state == "sending" or _may_be_partly_shown(row)):
            resolved = await self._resolve_uncertain(surface, row)
            if resolved is None:
                return
            row = resolved
        refusals = 0
        while True:
            if row.state == "pending":
                await self._wait_until_due(surface, row)
            if row.expires_at and self._clock.now() >= row.expires_at:
                await self._change_state(row, "expired", "it was not sent in time")
                return
            if row.state == "pending" and not self._closing:
                row = await self._change_state(row, "sending")
            try:
                await surface.acquire(row)
                sent = await self._send(surface, row)
            except SendRefused as refusal:
                self._send_log.clear(row.outbox_id)  # it was not accepted, whatever happens to the next unit
                row = replace(row, attempts=row.attempts + refusal.counts_as_attempt)
                if refusal.permanent or row.attempts >= MAX_ATTEMPTS:
                    await self._fail(row, refusal.reason, "delivery.refused")
                    return
                refusals += refusal.attempted
                now = self._clock.now()
                row = replace(row, not_before=now + int(1000 * _retry_delay(row, refusal, refusals, now)))
                row = await self._change_state(row, "pending", refusal.reason)
            except Exception as failure:  # any other error leaves open whether the platform accepted it
                expected = isinstance(failure, SendUncertain | TimeoutError)
                logger.warning(
                    "outbox row %s: no response from %s: %s", row.outbox_id, row.surface, failure, exc_info=not expected
                )
                row = replace(row, attempts=row.attempts + 1)
                resolved = await self._resolve_uncertain(surface, row)
                if resolved is None:
                    return
                row = resolved
            else:
                if sent is not None:
                    await self._mark_sent(row, sent)
                return

    async def _send(self, surface: Surface, row: OutboxRow) -> SendReceipt | None:
        """Sends a row. Returns None if the Host is stopping: the acknowledgement could not be awaited, so the next
        start sends it.
        """
        async with self._serializer.slot(surface.serialization_key(row)):
            if self._closing:
                return None
            self._in_flight.add(row.target)
            self._send_log.record_start(row.outbox_id)
            try:
                async with asyncio.timeout(SEND_TIMEOUT_SECONDS):
                    sent = await surface.send(row)
            finally:
                self._in_flight.discard(row.target)
            self._send_log.record_acknowledgement(row.outbox_id, sent.platform_message_id)
            return sent

    async def _resolve_uncertain(self, surface: Surface, row: OutboxRow) -> OutboxRow | None:
        """Resolves an uncertain send. Returns None if the row is final, otherwise the row to send again."""
        answer = self._send_log.message_id(row.outbox_id)
        if answer is not None:
            await self._change_state(row, "sent", sent=SendReceipt(answer))
            return None
        if row.kind == "action":
            await self._fail(row, "it may or may not have happened and is never repeated", "delivery.unknown")
            return None
        found = await self._query_platform(surface, row)
        if found is not None and found.complete:
            await self._change_state(row, "sent", sent=found)
            return None
        if found is not None:
            row = replace(row, message_id=found.platform_message_id)
            return await self._change_state(row, "sending", "its first words were found", sent=found)
        repeatable = surface.is_idempotent(row)
        if row.attempts >= MAX_ATTEMPTS or (row.possibly_repeated and not repeatable and not row.is_edit):
            await self._fail(row, "the platform never answered; it may have been sent", "delivery.unknown")
            return None
        marked = row if repeatable else replace(row, possibly_repeated=True)
        return await self._change_state(marked, "sending", "no answer to an earlier try")

    async def _query_platform(self, surface: Surface, row: OutboxRow) -> SendReceipt | None:
        """Asks the platform whether it has the message. Waits while it is offline: one of a bot's accounts may be
        connected and another not.
        """
        while True:
            await self._wait_until_due(surface, row)
            try:
                async with asyncio.timeout(SEND_TIMEOUT_SECONDS):
                    return await surface.find_sent(row)
            except Exception as failure:  # without an answer the send stays uncertain
                now = self._clock.now()
                if (
                    isinstance(failure, SendRefused)
                    and failure.is_offline
                    and not (row.expires_at and now >= row.expires_at)
                ):
                    row = replace(row, not_before=now + int(1000 * _retry_delay(row, failure, 0, now)))
                    continue
                expected = isinstance(failure, SendRefused | SendUncertain | TimeoutError)
                logger.warning(
                    "outbox row %s: %s could not be asked whether it was sent: %s",
                    row.outbox_id,
                    row.surface,
                    failure,
                    exc_info=not expected,
                )
                return None

    async def _mark_sent(self, row: OutboxRow, sent: SendReceipt) -> None:
        """Marks a row as sent. Retries until the database is back, so that only a crash can make the send uncertain."""
        while True:
            try:
                await self._change_state(row, "sent", sent=sent)
                return
            except StorageFailed as error:
                logger.error("outbox row %s was sent but waits for the database: %s", row.outbox_id, error.message)
                await asyncio.sleep(STORAGE_RETRY_SECONDS)

    async def _wait_until_due(self, surface: Surface, row: OutboxRow) -> None:
        """Waits until the next attempt is due and possible, or until the row expires."""
        until = min(row.not_before, row.expires_at) if row.expires_at else row.not_before
        left = until - self._clock.now()
        if left > 0:
            await asyncio.sleep(left / 1000)
        left = row.expires_at - self._clock.now()
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0, left) / 1000 if row.expires_at else None):
                await surface.wait_until_sendable(row)

    async def _change_state(
        self, row: OutboxRow, target: OutboxState, reason: str = "", sent: SendReceipt | None = None
    ) -> OutboxRow:
        draft = self._state_change(row, target, reason, sent)
        if target == "sent":
            self._sent_hook.add_events(draft, row)
        await self._journal.commit(draft.build())
        self._send_log.clear(row.outbox_id)
        if target == "sent":
            self._sent_hook.after_commit(row)
        if target in FINAL_STATES:
            self._notify_watcher(row, SendOutcome(target, reason, sent or SendReceipt()))
        return row if target in FINAL_STATES else row.with_state(target)

    async def _fail(self, row: OutboxRow, reason: str, code: FailureCode) -> None:
        """Marks a row as failed, and adds the notice to its sender to the same unit."""
        draft = self._state_change(row, "failed", reason)
        notices = await self._failed_hook.add_notices(draft, row, code)
        await self._journal.commit(draft.build())
        self._send_log.clear(row.outbox_id)
        self._notify_watcher(row, SendOutcome("failed", reason))
        for notice in notices:
            self._failed_hook.after_commit(notice)
            self.enqueue(notice)

    def _state_change(
        self, row: OutboxRow, target: OutboxState, reason: str, sent: SendReceipt | None = None
    ) -> UnitBuilder:
        message_id = sent.platform_message_id if sent is not None else ""
        draft = UnitBuilder(f"outbox.{target}", may_wait=target == "sent" and self._is_last(row))
        draft.add(outbox_rows.transition(row, row.state, target, self._clock.now(), reason, message_id))
        return draft

    def _is_last(self, row: OutboxRow) -> bool:
        """Returns whether no row waits behind this one and nothing watches it, so that its commit may be delayed."""
        return len(self._waiting[row.target]) <= 1 and row.outbox_id not in self._watched

    def _notify_watcher(self, row: OutboxRow, outcome: SendOutcome) -> None:
        watched = self._watched.pop(row.outbox_id, None)
        if watched is not None and not watched.done():
            watched.set_result(outcome)


def _count_interrupted_attempt(row: OutboxRow) -> OutboxRow:
    """Counts an interrupted attempt: a row that is loaded as `sending` was being sent by a process that is gone.

    A streamed row whose beginning may have been shown is counted too. Both are uncertain.
    """
    return replace(row, attempts=row.attempts + 1) if row.state == "sending" or _may_be_partly_shown(row) else row


def _may_be_partly_shown(row: OutboxRow) -> bool:
    """Returns whether the row was streamed and may be partly shown under a message id that is not known."""
    return bool(row.message.get(STREAMED)) and not row.message_id


def _retry_delay(row: OutboxRow, refusal: SendRefused, refusals: int, now: int) -> float:
    """Returns the seconds before the next attempt. If a platform repeatedly names a time, the pauses grow beyond it."""
    if refusal.retry_after is not None:
        patience = float(2 ** min(refusals - 2, 10)) if refusals > 1 else 0.0
        return max(OFFLINE_RETRY_SECONDS, refusal.retry_after, min(patience, MAX_RETRY_SECONDS))
    if not refusal.attempted:  # a row that has waited longer is retried less often
        waited = (now - row.created_at) / 2000
        return min(max(OFFLINE_RETRY_SECONDS, waited), MAX_OFFLINE_RETRY_SECONDS)
    return min(FIRST_RETRY_SECONDS * float(4 ** (row.attempts - 1)), MAX_RETRY_SECONDS)
