"""Handles actions that runs request by a call: records them, starts them, and waits as long as the run asks to."""

import asyncio
from collections.abc import Mapping
from typing import Any

from parlour.core.delivery.outbox import Outbox
from parlour.core.delivery.row_states import SendOutcome
from parlour.core.delivery.service import DeliveryService
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Statement, Unit
from parlour.core.model.ids import ApprovalId
from parlour.core.model.ports import Clock
from parlour.core.runs.action_plan import ActionPlan
from parlour.core.runs.scope import await_in_run
from parlour.core.runs.session import RunSession
from parlour.core.runs.slots import RunSlotPool, actor_key
from parlour.core.store import ledger
from parlour_sdk.protocol.actions import ActionOutcome

from .planner import ApprovalActionPlanner
from .tracker import PendingApprovals

EXECUTION_TIMEOUT_SECONDS = 30.0
"""Seconds that a run waits for a platform; after that the run continues, and so does the action."""


class ActionRequestHandler:
    """Plans, records and starts the actions of runs."""

    def __init__(
        self,
        journal: Journal,
        planner: ApprovalActionPlanner,
        pending: PendingApprovals,
        delivery: DeliveryService,
        outbox: Outbox,
        slots: RunSlotPool,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._planner = planner
        self._pending = pending
        self._delivery = delivery
        self._outbox = outbox
        self._slots = slots
        self._clock = clock

    async def request(
        self,
        session: RunSession,
        action: str,
        target: Mapping[str, Any] | None,
        payload: Mapping[str, Any] | None,
        wait_seconds: float = 0,
    ) -> ActionOutcome:
        """Requests an action and returns its outcome.

        Raises CallRejected if the run may not request it, if it is invalid, or if no decision was made while the run
        waited.
        """
        plan = await self._planner.plan(session, action, target, payload)
        session.has_effects = session.has_effects or plan.has_effect
        session.has_output = session.has_output or plan.approval is not None
        pending_outcome = self._outbox.watch(plan.rows[-1].outbox_id) if plan.rows and plan.approval is None else None
        unit = Unit("action.request", (*self._ledger_statements(session, plan), *plan.statements))
        await self._delivery.publisher.deliver(self._journal, unit, plan.rows)
        if plan.approval is not None:
            self._pending.track(plan.approval)
            return await self._await_decision(session, plan.approval.approval_id, wait_seconds)
        if pending_outcome is None:
            return _refused_outcome(plan)
        return _to_action_outcome(await self._await_outcome(session, pending_outcome), plan.name)

    def _ledger_statements(self, session: RunSession, plan: ActionPlan) -> tuple[Statement, ...]:
        """Records the plan in the ledger. It does not wait for the run's next write, which could follow the person's
        decision.
        """
        run_id, number, now = session.run_id, session.next_sequence(), self._clock.now()
        progress = ledger.update_progress(run_id, now, has_output=session.has_output, has_effects=session.has_effects)
        return progress, ledger.append_event(run_id, number, "action.decided", plan.ledger_data, now, source="host")

    async def _await_decision(self, session: RunSession, approval_id: ApprovalId, seconds: float) -> ActionOutcome:
        if not seconds:
            return ActionOutcome(status="pending", approval_id=approval_id)
        async with self._slots.yield_slot(actor_key(session.event.envelope), holds_slot=not session.remote):
            decision = await await_in_run(session, self._pending.wait(approval_id, seconds))
        if decision is None:
            message = f"nobody has decided within {seconds:g} s; it is still asked"
            raise CallRejected("approval_pending", message, details={"approval_id": approval_id})
        if decision.outcome is None:
            return ActionOutcome(status="denied", approval_id=approval_id)
        return _to_action_outcome(
            await self._await_outcome(session, decision.outcome), decision.approval.action, approval_id
        )

    async def _await_outcome(
        self, session: RunSession, pending_outcome: "asyncio.Future[SendOutcome]"
    ) -> SendOutcome | None:
        """Waits for the outcome of a send. Returns None if the platform takes too long."""

        async def outcome() -> SendOutcome:
            return await asyncio.shield(pending_outcome)

        try:
            async with asyncio.timeout(EXECUTION_TIMEOUT_SECONDS):
                return await await_in_run(session, outcome())
        except TimeoutError:
            return None


def _refused_outcome(plan: ActionPlan) -> ActionOutcome:
    """Returns the outcome of a plan that the policy denies; raises if the run has no permission to request it."""
    if plan.refusal is not None and plan.refusal.code != "denied":
        raise plan.refusal
    return ActionOutcome(status="denied")


def _to_action_outcome(outcome: SendOutcome | None, name: str, approval_id: ApprovalId | None = None) -> ActionOutcome:
    if outcome is None:
        return ActionOutcome(status="pending", approval_id=approval_id)
    if outcome.state != "sent":
        raise CallRejected("runtime_error", f"{name} was not done: {outcome.reason}")
    return ActionOutcome(status="done", approval_id=approval_id, result=outcome.sent.result)
