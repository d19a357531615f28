"""Asks people while a run waits. The answer goes back to the run; nothing is executed or outlives the wait."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from parlour.core.delivery.publisher import DeliveryPublisher
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Unit
from parlour.core.model.approval_policy import ASK_RULE, ApprovalPolicy, ApprovalRule
from parlour.core.model.ports import Clock
from parlour.core.runs.scope import await_in_run
from parlour.core.runs.session import RunSession
from parlour.core.runs.slots import RunSlotPool, actor_key
from parlour.core.store import approvals as approval_rows
from parlour.core.store import ledger, outbox_rows
from parlour.core.store.approvals import Approval
from parlour_sdk.protocol.live_permissions import LIVE_PERMISSION, AskPermission, PermissionAnswer

from .creation import ApprovalFactory, ApprovalSubject
from .texts import live_question_text
from .tracker import ApprovalDecision, PendingApprovals

DEADLINE_MARGIN_SECONDS = 10.0
"""Seconds before a run's deadline at which it stops waiting, so that it can still answer."""
MAX_TITLE_CHARACTERS = 500
MAX_DETAIL_CHARACTERS = 8 * 1024


class LiveQuestions:
    """Puts questions of running agents before people."""

    def __init__(
        self,
        journal: Journal,
        approvals: ApprovalFactory,
        pending: PendingApprovals,
        publisher: DeliveryPublisher,
        slots: RunSlotPool,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._approvals = approvals
        self._pending = pending
        self._publisher = publisher
        self._slots = slots
        self._clock = clock

    async def ask(self, session: RunSession, request: AskPermission) -> AsyncGenerator[PermissionAnswer, None]:
        """Yields `pending` and then the decision. Closed before that, it withdraws the question."""
        rule = live_rule(session)
        if rule.decision != "ask":
            yield PermissionAnswer(status="approved" if rule.decision == "allow" else "denied")
            return
        approval = await self._commit_question(session, request, rule)
        waiting = asyncio.ensure_future(self._await_decision(session, approval))
        try:
            yield PermissionAnswer(status="pending", approval_id=approval.approval_id)
            decision = await waiting
        finally:
            waiting.cancel()
            self._pending.withdraw(approval.approval_id)
        if decision is None:
            yield PermissionAnswer(status="expired", approval_id=approval.approval_id)
            return
        closed = decision.approval
        yield PermissionAnswer(
            status=closed.status,
            approval_id=closed.approval_id,
            always=bool(closed.outcome.get("always")),
            reason=closed.reason,
        )

    async def _commit_question(self, session: RunSession, request: AskPermission, rule: ApprovalRule) -> Approval:
        call = {
            "title": request.title[:MAX_TITLE_CHARACTERS],
            "details": request.details[:MAX_DETAIL_CHARACTERS],
            "always": request.always_label[:MAX_TITLE_CHARACTERS] or "always" if request.offers_always else "",
        }
        event = session.event.envelope
        words = live_question_text(call["title"], call["details"], event, self._approvals.language(session))
        subject = ApprovalSubject(LIVE_PERMISSION, call, words, event.bot_id)
        approval, prompt = self._approvals.create(session, subject, rule)
        session.has_output = session.has_effects = True
        statements = (approval_rows.insert(approval), outbox_rows.insert(prompt))
        unit = Unit("action.request", (*self._ledger_statements(session, approval), *statements))
        await self._publisher.deliver(self._journal, unit, [prompt])
        self._pending.track(approval)
        return approval

    async def _await_decision(self, session: RunSession, approval: Approval) -> ApprovalDecision | None:
        async with self._slots.yield_slot(actor_key(session.event.envelope), holds_slot=not session.remote):
            seconds = self._seconds_left(session, approval)
            return await await_in_run(session, self._pending.wait(approval.approval_id, seconds))

    def _ledger_statements(self, session: RunSession, approval: Approval) -> tuple[Any, ...]:
        run_id, now = session.run_id, self._clock.now()
        data = {"action": approval.action, "status": "pending", "approval_id": approval.approval_id}
        progress = ledger.update_progress(run_id, now, has_output=True, has_effects=True)
        number = session.next_sequence()
        return progress, ledger.append_event(run_id, number, "action.decided", data, now, source="host")

    def _seconds_left(self, session: RunSession, approval: Approval) -> float:
        seconds = (approval.expires_at - approval.created_at) / 1000 + DEADLINE_MARGIN_SECONDS
        if session.deadline_at:
            seconds = min(seconds, (session.deadline_at - self._clock.now()) / 1000 - DEADLINE_MARGIN_SECONDS)
        return max(0.0, seconds)


def live_rule(session: RunSession) -> ApprovalRule:
    """Returns the rule for questions of the run's agent. Without one, owners, admins and operators are asked.

    Raises CallRejected if the runner may not ask.
    """
    if not session.grant.allows_action(LIVE_PERMISSION):
        raise CallRejected("unauthorized", f"the action '{LIVE_PERMISSION}' was not granted to this run")
    policy = ApprovalPolicy.decode(session.binding.agent.approval_policy)
    rule = policy.rule(LIVE_PERMISSION, ASK_RULE)
    return ASK_RULE if rule.decision == "allow" and session.event.envelope.is_preview else rule
