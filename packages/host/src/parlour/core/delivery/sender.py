"""Sends one outbox row: marked `sending` before the call and final after it, retried in between.

An uncertain send is resolved by asking the platform, by sending again under the same key, or, for a text, by sending
once more with a note; an action is never repeated. After a kill, the send log shows which sends are uncertain.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial

from parlour.core.cluster.ownership import Ownership, PartLost
from parlour.core.cluster.parts import part_of
from parlour.core.journal import GuardFailed, Statement, retry_on_storage_failure
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import Clock, SendReceipt, SendRefused, SendUncertain, Surface
from parlour.core.model.reply_allowance import ReplyUse
from parlour.core.store import reply_allowances

from .notices import FailureCode
from .reply_policy import ReplyDecision, ReplyPolicy
from .retry_policy import MAX_ATTEMPTS, is_expired, is_given_up, next_attempt_at
from .row_states import RowStates, SendOutcome
from .send_log import SendLog
from .send_serializer import SendSerializer
from .streaming.streamed_message import STREAMED

logger = logging.getLogger(__name__)

SEND_TIMEOUT_SECONDS = 60.0
"""Seconds before a send without acknowledgement becomes uncertain."""
UNKNOWN_REPLY = "the reply may have been shown, and the platform accepts no repeat of it"
"""Failure reason of a reply whose first try is uncertain."""
IsLast = Callable[[], bool]
"""Returns whether no row waits behind this one and nothing watches it, so that its last commit may be delayed."""


class Sender:
    """Sends rows through their surfaces, with retries, and resolves uncertain sends."""

    def __init__(
        self,
        surfaces: Mapping[str, Surface],
        ownership: Ownership,
        states: RowStates,
        reply_policy: ReplyPolicy,
        send_log: SendLog,
        clock: Clock,
    ) -> None:
        self._surfaces = surfaces
        self._ownership = ownership
        self._states = states
        self._reply_policy = reply_policy
        self._send_log = send_log
        self._clock = clock
        self._serializer = SendSerializer()
        self._in_flight: set[str] = set()
        """Targets with a send that the platform has not acknowledged yet."""
        self._stopping = False
        self._committed: set[str] = set()
        """Targets whose row is marked as `sending`, or about to be."""

    def handles(self, surface: str) -> bool:
        """Returns whether rows of this surface are sent. Clients of other surfaces read them back; they are sent when
        committed.
        """
        return surface in self._surfaces

    def is_committed(self, target: str) -> bool:
        """Returns whether a row of this target is marked as `sending`, or about to be."""
        return target in self._committed or target in self._in_flight

    def is_in_flight(self, target: str) -> bool:
        """Returns whether a row of this target was handed to the platform and is not acknowledged yet."""
        return target in self._in_flight

    def stop(self) -> None:
        """Starts no further send."""
        self._stopping = True

    async def load_log(self, rows: Iterable[OutboxRow]) -> None:
        """Loads the log of sends that a process before this one started."""
        await self._send_log.load([row.outbox_id for row in rows if row.state == "sending"])

    def was_not_sent(self, row: OutboxRow) -> bool:
        """Returns whether a `sending` row certainly was not sent. Not for a retried row: the log of an earlier try may
        be gone.
        """
        return row.state == "sending" and not (
            row.attempts or _may_be_partly_shown(row) or self._send_log.was_started(row.outbox_id)
        )

    async def deliver(self, row: OutboxRow, is_last: IsLast) -> SendOutcome | None:
        """Sends a row until its state is final. Returns None if the Host is stopping or gives the row's part away: the
        next start, or the next owner, sends it.
        """
        try:
            return await self._deliver(row, is_last)
        finally:
            self._committed.discard(row.target)

    async def _deliver(self, row: OutboxRow, is_last: IsLast) -> SendOutcome | None:
        surface = self._surfaces[row.surface]
        if row.attempts and (row.state == "sending" or _may_be_partly_shown(row)):
            resolved = await self._resolve_uncertain(surface, row, is_last)
            if isinstance(resolved, SendOutcome):
                return resolved
            row = resolved
        refusals = 0
        while True:
            if row.state == "pending":
                self._committed.discard(row.target)
                await self._wait_until_due(surface, row)
            if is_expired(row, self._clock.now()):
                return await self._states.mark_expired(row, "it was not sent in time")
            if row.state == "pending" and self._may_start(row):
                self._committed.add(row.target)
                started = await self._start(row)
                if isinstance(started, SendOutcome):
                    return started
                row = started
            try:
                await surface.acquire(row)
                receipt = await self._send(surface, row)
            except SendRefused as refusal:
                self._send_log.clear(row.outbox_id)  # it was not accepted, whatever happens to the next unit
                row = replace(row, attempts=row.attempts + refusal.counts_as_attempt)
                if refusal.handle_rejected and row.reply is not None:
                    row = await self._close_allowance(row, row.reply, refusal.reason)
                    continue
                if is_given_up(row, refusal):
                    return await self._states.mark_failed(row, refusal.reason, "delivery.refused")
                refusals += refusal.attempted
                row = replace(row, not_before=next_attempt_at(row, refusal, refusals, self._clock.now()))
                row = await self._states.move(row, "pending", refusal.reason)
            except Exception as failure:  # any other error leaves open whether the platform accepted it
                expected = isinstance(failure, SendUncertain | TimeoutError)
                logger.warning(
                    "outbox row %s: no response from %s: %s", row.outbox_id, row.surface, failure, exc_info=not expected
                )
                resolved = await self._resolve_uncertain(surface, replace(row, attempts=row.attempts + 1), is_last)
                if isinstance(resolved, SendOutcome):
                    return resolved
                row = resolved
            else:
                return await self._mark_sent(row, receipt, is_last) if receipt is not None else None

    def _may_start(self, row: OutboxRow) -> bool:
        return not self._stopping and self._ownership.holds(part_of(row.bot_id, row.conversation_id))

    async def _start(self, row: OutboxRow) -> OutboxRow | SendOutcome:
        """Marks a row as `sending`. The same unit counts it if its platform limits replies; returns the outcome of a
        row that the platform does not accept now.
        """
        while row.reply is not None:
            decision = await self._reply_policy.decide(row.bot_id, row.address.get("chat", ""), row.reply)
            if row.reply.uncertain and decision.use != row.reply:
                return await self._states.mark_failed(row, UNKNOWN_REPLY, "delivery.unknown")
            if decision.kind in ("hold", "refuse") or _is_about_unknown_reply(row, decision):
                return await self._withhold(replace(row, reply=decision.use.without_number()), decision)
            reply_row = replace(row, reply=decision.use)
            try:
                return await self._states.move(reply_row, "sending", statements=decision.statements)
            except GuardFailed as error:
                if error.statement == 0:
                    raise  # the row itself is in another state
        return await self._states.move(row, "sending")

    async def _withhold(self, row: OutboxRow, decision: ReplyDecision) -> SendOutcome:
        """Holds or fails a reply that exceeds its allowance."""
        if decision.kind == "hold" and row.kind != "notice":
            return await self._states.mark_held(row, decision.reason)
        return await self._states.mark_failed(row, decision.reason, "delivery.not_allowed")

    async def _close_allowance(self, row: OutboxRow, use: ReplyUse, reason: str) -> OutboxRow:
        """Ends an allowance whose handle the platform rejected. The row is pending, and its fallback applies next."""
        close = reply_allowances.close(row.bot_id, use.event_id, self._clock.now())
        return await self._states.move(replace(row, reply=use.without_number()), "pending", reason, statements=(close,))

    async def fail_after_error(self, row: OutboxRow) -> SendOutcome:
        """Marks a row as failed after an internal error, in whatever state it is."""
        code: FailureCode = "delivery.unknown" if row.attempts else "delivery.refused"
        return await self._states.mark_failed(row, "the Host failed at it; the log says where", code)

    async def _send(self, surface: Surface, row: OutboxRow) -> SendReceipt | None:
        """Sends a row. Returns None if the Host is stopping: the acknowledgement could not be awaited, so the next
        start sends it; or if another Host may own the row by now and sends it.
        """
        async with self._serializer.slot(surface.serialization_key(row)):
            if (gate := self._ownership.effect_gate()) is not None:
                try:
                    await gate
                except PartLost:
                    return None
            if self._stopping or row.state == "pending":
                return None
            self._in_flight.add(row.target)
            self._send_log.record_start(row.outbox_id)
            try:
                async with asyncio.timeout(SEND_TIMEOUT_SECONDS):
                    receipt = await surface.send(row)
            finally:
                self._in_flight.discard(row.target)
            self._send_log.record_acknowledgement(row.outbox_id, receipt.platform_message_id)
            return receipt

    async def _mark_sent(self, row: OutboxRow, receipt: SendReceipt, is_last: IsLast) -> SendOutcome:
        """Marks a row as sent. Retries until the database is back, so that only a crash can make the send uncertain."""

        async def commit() -> SendOutcome:
            return await self._states.mark_sent(row, receipt, is_last())

        return await retry_on_storage_failure(commit, f"outbox row {row.outbox_id} was sent but")

    async def _resolve_uncertain(self, surface: Surface, row: OutboxRow, is_last: IsLast) -> SendOutcome | OutboxRow:
        """Resolves an uncertain send. Returns the row if it has to be sent again."""
        answer = self._send_log.message_id(row.outbox_id)
        if answer is not None:
            return await self._states.mark_sent(row, SendReceipt(answer), is_last())
        fail = partial(self._states.mark_failed, row, code="delivery.unknown")
        if row.kind == "action":
            return await fail("it may or may not have happened and is never repeated")
        receipt = await self._query_platform(surface, row)
        if receipt is not None and receipt.complete:
            return await self._states.mark_sent(row, receipt, is_last())
        if receipt is not None:
            row = replace(row, message_id=receipt.platform_message_id)
            return await self._states.move(row, "sending", "its first words were found", receipt)
        repeatable = surface.is_idempotent(row)
        statements: tuple[Statement, ...] = ()
        if row.reply is not None and row.reply.number and (not repeatable or row.reply.is_late(self._clock.now())):
            # the first try stays counted, and only a further reply of the allowance may repeat it
            without_number = row.reply.without_number()
            again = await self._reply_policy.decide(row.bot_id, row.address.get("chat", ""), without_number)
            if again.kind != "reply" or repeatable:
                return await fail(UNKNOWN_REPLY)
            row, statements = replace(row, reply=again.use), again.statements
        if row.reply is not None and row.reply.number:
            row = replace(row, reply=replace(row.reply, uncertain=True))
        if row.attempts >= MAX_ATTEMPTS or (row.possibly_repeated and not repeatable and not row.is_edit):
            return await fail("the platform never answered; it may have been sent")
        marked_row = row if repeatable else replace(row, possibly_repeated=True)
        return await self._states.move(marked_row, "sending", "no answer to an earlier try", statements=statements)

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
                if isinstance(failure, SendRefused) and failure.is_offline and not is_expired(row, now):
                    row = replace(row, not_before=next_attempt_at(row, failure, 0, now))
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

    async def _wait_until_due(self, surface: Surface, row: OutboxRow) -> None:
        """Waits until the next attempt is due and possible, or until the row expires."""
        until = min(row.not_before, row.expires_at) if row.expires_at else row.not_before
        remaining = until - self._clock.now()
        if remaining > 0:
            await asyncio.sleep(remaining / 1000)
        remaining = row.expires_at - self._clock.now()
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0, remaining) / 1000 if row.expires_at else None):
                await surface.wait_until_sendable(row)


def with_interrupted_attempt(row: OutboxRow) -> OutboxRow:
    """Counts an interrupted attempt: a row that is loaded as `sending` was being sent by a process that is gone.

    A streamed row whose beginning may have been shown is counted too. Both are uncertain.
    """
    return replace(row, attempts=row.attempts + 1) if row.state == "sending" or _may_be_partly_shown(row) else row


def _may_be_partly_shown(row: OutboxRow) -> bool:
    """Returns whether the row was streamed and may be partly shown under a message id that is not known."""
    return bool(row.message.get(STREAMED)) and not row.message_id


def _is_about_unknown_reply(row: OutboxRow, decision: ReplyDecision) -> bool:
    """Returns whether the row is a notice about an uncertain reply that would have to be sent as the bot's own message.

    The reply may have been shown, so nothing about it is sent at the expense of the operator.
    """
    return decision.kind == "push" and row.kind == "notice" and row.code == "delivery.unknown"
