"""Writes the states of outbox rows. Each change is one unit, together with the events and notices that belong to it."""

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Literal, Protocol

from parlour.core.cluster.ownership import Ownership
from parlour.core.cluster.parts import part_of
from parlour.core.journal import Journal, Statement, UnitBuilder
from parlour.core.model.outbox_row import OutboxRow, OutboxState
from parlour.core.model.ports import Clock, SendReceipt
from parlour.core.store import outbox_rows
from parlour_sdk.values import dataclass

from .notices import FailureCode
from .send_log import SendLog

FINAL_STATES: tuple[OutboxState, ...] = ("sent", "failed", "expired")
"""States in which a row is not sent any more."""
HELD_MILLISECONDS = 7 * 24 * 3600 * 1000
"""Milliseconds for which a held reply waits for the next message of its chat."""


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
    notices: tuple[OutboxRow, ...] = ()
    """Committed notices about a failure, which are to be sent next."""


class RowStates:
    """Commits the state changes of rows, and clears the send log when they are stored."""

    def __init__(
        self,
        journal: Journal,
        ownership: Ownership,
        sent_hook: SentMessageHook,
        failed_hook: FailedMessageHook,
        send_log: SendLog,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._ownership = ownership
        self._sent_hook = sent_hook
        self._failed_hook = failed_hook
        self._send_log = send_log
        self._clock = clock

    async def move(
        self,
        row: OutboxRow,
        target: Literal["pending", "sending"],
        reason: str = "",
        receipt: SendReceipt | None = None,
        statements: Sequence[Statement] = (),
    ) -> OutboxRow:
        """Moves a row to a state that is not final, and returns it in that state.

        Only the Host that owns the row's part can move it to `sending`. `statements` are part of the unit.
        """
        draft = self._draft(row, target, reason, receipt)
        draft.add(*statements)
        if target == "sending":
            draft.add(*self._ownership.guards(part_of(row.bot_id, row.conversation_id)))
        await self._commit(row, draft)
        return row.with_state(target)

    async def mark_held(self, row: OutboxRow, reason: str) -> SendOutcome:
        """Holds a reply that the platform does not accept until the next message of its chat."""
        now = self._clock.now()
        draft = UnitBuilder("outbox.held")
        draft.add(outbox_rows.hold(replace(row, expires_at=now + HELD_MILLISECONDS), reason, now))
        await self._commit(row, draft)
        return SendOutcome("held", reason)

    async def mark_sent(self, row: OutboxRow, receipt: SendReceipt, may_wait: bool) -> SendOutcome:
        """Marks a row as sent. `may_wait` allows the journal to delay the commit."""
        draft = self._draft(row, "sent", "", receipt, may_wait)
        self._sent_hook.add_events(draft, row)
        await self._commit(row, draft)
        self._sent_hook.after_commit(row)
        return SendOutcome("sent", sent=receipt)

    async def mark_expired(self, row: OutboxRow, reason: str) -> SendOutcome:
        await self._commit(row, self._draft(row, "expired", reason))
        return SendOutcome("expired", reason)

    async def mark_failed(self, row: OutboxRow, reason: str, code: FailureCode) -> SendOutcome:
        """Marks a row as failed, and adds the notice to its sender to the same unit."""
        draft = self._draft(row, "failed", reason)
        notices = await self._failed_hook.add_notices(draft, row, code)
        await self._commit(row, draft)
        for notice in notices:
            self._failed_hook.after_commit(notice)
        return SendOutcome("failed", reason, notices=tuple(notices))

    def _draft(
        self,
        row: OutboxRow,
        target: OutboxState,
        reason: str,
        receipt: SendReceipt | None = None,
        may_wait: bool = False,
    ) -> UnitBuilder:
        message_id = receipt.platform_message_id if receipt is not None else ""
        draft = UnitBuilder(f"outbox.{target}", may_wait=may_wait)
        draft.add(outbox_rows.transition(row, row.state, target, self._clock.now(), reason, message_id))
        return draft

    async def _commit(self, row: OutboxRow, draft: UnitBuilder) -> None:
        await self._journal.commit(draft.build())
        self._send_log.clear(row.outbox_id)
