"""Decides approvals: each is asked once, decided once and executed once, across restarts and deleted runs."""

import asyncio
import logging
from dataclasses import replace
from functools import partial
from typing import Any, Literal
from weakref import WeakValueDictionary

from parlour.core.access import audit
from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.cluster.parts import part_of
from parlour.core.delivery.outbox import Outbox
from parlour.core.delivery.row_states import FINAL_STATES, SendOutcome
from parlour.core.delivery.service import DeliveryService
from parlour.core.delivery.targets import PLATFORM
from parlour.core.errors import CallRejected
from parlour.core.journal import GuardFailed, Journal, StorageFailed, Unit, UnitBuilder, retry_on_storage_failure
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import NO_CONVERSATION, NO_OUTBOX, ApprovalId, BotId, ConversationId, PartId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import Clock, SendReceipt
from parlour.core.store import approvals as rows
from parlour.core.store import outbox_rows
from parlour.core.store.approvals import Approval, ApprovalStatus, ApprovalStore
from parlour.core.store.event_log import EventLog
from parlour.core.store.outbox_rows import OutboxStore
from parlour.core.texts.catalogue import DEFAULT_LANGUAGE, text
from parlour.core.texts.languages import Languages

from .decisions import Decider, DecisionRecords, ensure_may_decide
from .texts import NOT_AWAITED, compose_prompt, decision_text, outcome_text
from .tracker import KEYWORD_RETENTION_MILLISECONDS, ApprovalDecision, PendingApprovals

logger = logging.getLogger(__name__)

Verdict = Literal["approve", "always", "deny"]
RETRY_SECONDS = 5.0
"""Seconds before a failed write is retried."""
MAX_TRIES = 3
"""Attempts to write a decision while the ledger of its run changes."""
DECISION_STATEMENT = 0
"""Index of the statement that decides. If another guard fails, the run has changed, and the unit can be built again."""


class ApprovalService:
    """Decides approvals, and expires them in time."""

    def __init__(
        self,
        journal: Journal,
        delivery: DeliveryService,
        outbox: Outbox,
        records: DecisionRecords,
        pending: PendingApprovals,
        languages: Languages,
        clock: Clock,
    ) -> None:
        self._languages = languages
        self._journal = journal
        self._rows = ApprovalStore(journal)
        self._outgoing = OutboxStore(journal)
        self._log = EventLog(journal)
        self._delivery = delivery
        self._outbox = outbox
        self._records = records
        self._pending = pending
        self._clock = clock
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """A lock exists as long as a decision holds it or waits for it."""
        self._tasks = BackgroundTasks("the outcome of an approval could not be written")
        self._is_expiring = False

    async def recover(self, part: PartId | None = None) -> None:
        """Recovers pending approvals after a restart, or those of a part, and expires them in time from now on."""
        if not self._is_expiring:
            self._is_expiring = True
            self._await_expired()
        for approval in await self._rows.created_since(self._clock.now() - KEYWORD_RETENTION_MILLISECONDS):
            if part not in (None, _part(approval)):
                continue
            self._pending.remember(approval)
            if approval.status == "approved" and not approval.outcome:
                await self._recover_outcome(approval)
        for pending in await self._rows.pending():
            if part not in (None, _part(pending)):
                continue
            self._pending.track(pending)
            if pending.is_live:  # its run ended with the process before
                self._pending.withdraw(pending.approval_id)

    async def _recover_outcome(self, approved: Approval) -> None:
        """Records the outcome of an executed action, if the Host stopped before it was written."""
        row = await self._outgoing.get(approved.outbox_id)
        if row is None:
            return
        ended = self._outbox.watch(row.outbox_id)
        if row.state in FINAL_STATES:
            self._outbox.unwatch(row.outbox_id)
            ended.set_result(SendOutcome(row.state, row.reason, SendReceipt(row.message_id)))
        self._tasks.start(self._record_outcome(approved.approval_id, ended))

    def drain(self, part: PartId) -> None:
        """Leaves the expiry of a part's approvals to the Host that takes it."""
        self._pending.forget(lambda approval: _part(approval) == part)

    async def close(self) -> None:
        self._is_expiring = False
        self._pending.close()
        await self._tasks.aclose()

    def by_keyword(self, keyword: str) -> Approval | None:
        return self._pending.by_keyword(keyword)

    async def decide(
        self,
        approval_id: ApprovalId,
        verdict: Verdict,
        decider: Decider,
        reason: str = "",
        post_decision: bool = True,
        conversation_id: ConversationId = NO_CONVERSATION,
        language: str = DEFAULT_LANGUAGE,
    ) -> Approval:
        """Decides an approval. Raises CallRejected if there is none, it is already decided, or this person may not
        decide.

        The decision is posted in the chat where it was asked, unless the caller switches that off: a decider in that
        chat gets a reply anyway. With a conversation id, only approvals of that conversation are found.
        """
        async with self._lock(approval_id):
            approval = await self._rows.get(approval_id)
            if approval is None or conversation_id not in ("", approval.conversation_id):
                raise CallRejected("not_found", f"there is no approval '{approval_id[:64]}'")
            ensure_may_decide(approval, decider, self._clock.now(), language)
            self._ensure_can_be_answered(approval, verdict, language)
            status: ApprovalStatus = "denied" if verdict == "deny" else "approved"
            closed = replace(approval, status=status, decided_by=decider.name, reason=reason[:1000])
            if verdict == "always":
                closed = replace(closed, outcome={"always": True})
            try:
                return await self._close(closed, decider, post_decision)
            except GuardFailed as failure:
                if (latest := await self._rows.get(approval_id)) is not None:
                    ensure_may_decide(latest, decider, self._clock.now(), language)
                message = text("approval.changed", language, keyword=approval.keyword)
                raise CallRejected("conflict", message) from failure

    def _ensure_can_be_answered(self, approval: Approval, verdict: Verdict, language: str) -> None:
        """Raises CallRejected if no run waits for a live answer any more, or it does not offer this one."""
        if approval.is_live and not self._pending.is_awaited(approval.approval_id):
            raise CallRejected("conflict", text("approval.not_awaited", language, keyword=approval.keyword))
        if verdict == "always" and not approval.offers_always:
            raise CallRejected("conflict", text("approval.no_always", language, keyword=approval.keyword))

    def _lock(self, approval_id: ApprovalId) -> asyncio.Lock:
        """Returns the lock that serializes decisions on one approval. The database guarantees that there is only
        one.
        """
        return self._locks.setdefault(approval_id, asyncio.Lock())

    async def _close(self, closed: Approval, decider: Decider | None, post_decision: bool) -> Approval:
        """Stores a decision. Retries if the run that requested it is deleted, or its ledger continues, at the same
        moment.
        """
        tries = 1
        while True:
            try:
                async with self._records.sequence_lock(closed):
                    return await self._commit_decision(closed, decider, post_decision)
            except GuardFailed as failure:
                if failure.statement == DECISION_STATEMENT or tries == MAX_TRIES:
                    raise
                tries += 1

    async def _commit_decision(self, closed: Approval, decider: Decider | None, post_decision: bool) -> Approval:
        """Commits one unit: the decision with its decider, the rows that execute it, and the events that report it."""
        now = self._clock.now()
        event = await self._log.get_by_seq(closed.event_seq)
        of_run = await self._records.ledger_statements(closed, now)
        acts = self._records.action_rows(closed)
        closed = replace(closed, decided_at=now, outbox_id=acts[-1].outbox_id if acts else NO_OUTBOX)
        messages = self._decision_rows(event, closed, decider, post_decision) if event is not None else []
        draft = UnitBuilder("approval.decide")
        draft.add(
            rows.record_decision(closed),
            *([rows.record_outcome(closed.approval_id, closed.outcome)] if closed.outcome else ()),
            _audit_entry(closed, now),
            *(outbox_rows.insert(row) for row in [*acts, *messages]),
            *of_run,
            *self._records.job_statements(closed),
        )
        queued = self._records.add_event(draft, event, closed, decider, now) if event is not None else None
        ended = self._outbox.watch(closed.outbox_id) if acts else None
        try:
            receipt = await self._journal.commit(draft.build())
        except (GuardFailed, StorageFailed) as failure:
            self._outbox.unwatch(closed.outbox_id)
            self._delivery.publisher.after_rollback([*acts, *messages], failure)
            raise
        self._delivery.publisher.after_commit([*acts, *messages])
        if ended is not None:
            self._tasks.start(self._record_outcome(closed.approval_id, ended))
        self._pending.resolve(ApprovalDecision(closed, ended))
        self._records.after_commit(closed, queued, receipt, now)
        return closed

    def _decision_rows(
        self, event: RecordedEvent, closed: Approval, decider: Decider | None, post_decision: bool
    ) -> list[OutboxRow]:
        language, composer = self._languages.for_event(event.envelope), self._delivery.composer
        if self.edits_prompt(closed):
            outcome = outcome_text(closed, decider.display_name if decider is not None else "", language)
            return [compose_prompt(composer, event, closed, outcome, closed.prompt_outbox_id)]
        return [compose_prompt(composer, event, closed, decision_text(closed, language))] if post_decision else []

    def edits_prompt(self, about: Approval) -> bool:
        """Returns whether the prompt message is edited into the outcome."""
        on_platform = about.chat["surface"] == PLATFORM and bool(about.prompt_outbox_id)
        return on_platform and self._delivery.composer.can_edit_prompts(about.chat["bot_id"])

    async def prompt_message_id(self, approval_id: ApprovalId) -> str:
        """Returns the platform's id of the prompt message; empty if it is unknown or there may be two messages."""
        about = await self._rows.get(approval_id)
        row = await self._outgoing.get(about.prompt_outbox_id) if about is not None and about.prompt_outbox_id else None
        return row.message_id if row is not None and not row.possibly_repeated else ""

    async def _record_outcome(self, approval_id: ApprovalId, ended: "asyncio.Future[SendOutcome]") -> None:
        outcome = await asyncio.shield(ended)
        record = {"state": outcome.state, "reason": outcome.reason, "result": outcome.sent.result}
        unit = Unit("approval.outcome", (rows.record_outcome(approval_id, record),))
        await retry_on_storage_failure(partial(self._journal.commit, unit), f"the outcome of approval {approval_id}")

    def _await_expired(self) -> None:
        self._pending.next_expired().add_done_callback(self._on_expired)

    def _on_expired(self, expired: "asyncio.Future[ApprovalId]") -> None:
        if self._is_expiring:
            self._tasks.start(self._expire_pending(expired.result()))
            self._await_expired()

    async def _expire_pending(self, approval_id: ApprovalId) -> None:
        async with self._lock(approval_id):
            try:
                approval = await self._rows.get(approval_id)
                if approval is not None and approval.status == "pending":
                    is_left = approval.is_live and self._clock.now() < approval.expires_at
                    reason = NOT_AWAITED if is_left else "nobody decided in time"
                    late = replace(approval, status="expired", reason=reason)
                    await self._close(late, None, post_decision=True)
            except (StorageFailed, GuardFailed) as failure:  # also if a change of its run's ledger prevented the write
                logger.error("approval %s could not be expired yet: %s", approval_id, failure)
                self._pending.expire_in(approval_id, RETRY_SECONDS)


def _audit_entry(closed: Approval, now: int) -> Any:
    after = {"status": closed.status, "action": closed.action, "run_id": closed.run_id, "reason": closed.reason}
    actor = closed.decided_by or "host"
    return audit.change_entry(actor, "approval.decide", closed.approval_id, {"status": "pending"}, after, now)


def _part(approval: Approval) -> PartId:
    return part_of(BotId(approval.chat["bot_id"]), approval.conversation_id)
