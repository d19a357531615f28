"""Handles actions that runs request by a call: records them, starts them, and waits as long as the run asks to."""

import asyncio
from collections.abc import Mapping
from typing import Any

from parlour.core.delivery.composer import Delivery
from parlour.core.delivery.outbox import Outbox, Outcome
from parlour.core.errors import Refused
from parlour.core.journal import Journal, Statement, Unit
from parlour.core.model.ports import Clock
from parlour.core.runs.action_plan import Plan
from parlour.core.runs.scope import within
from parlour.core.runs.session import RunSession
from parlour.core.runs.slots import Slots, person_of
from parlour.core.store import ledger
from parlour_sdk.protocol.actions import ActionOutcome

from .planner import Planner
from .service import Approvals

EXECUTION_SECONDS = 30.0
"""Seconds that a run waits for a platform; after that the run continues, and so does the action."""


class ActionRequests:
    """Plans, records and starts the actions of runs."""

    def __init__(
        self,
        journal: Journal,
        planner: Planner,
        approvals: Approvals,
        delivery: Delivery,
        outbox: Outbox,
        slots: Slots,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._planner = planner
        self._approvals = approvals
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

        Raises Refused if the run may not request it, if it is invalid, or if no decision was made while the run waited.
        """
        plan = await self._planner.plan(session, action, target, payload)
        session.effects = session.effects or plan.acts
        session.shown = session.shown or plan.approval is not None
        ended = self._outbox.watch(plan.rows[-1].outbox_id) if plan.rows and plan.approval is None else None
        unit = Unit("action.request", (*self._recorded(session, plan), *plan.statements))
        await self._delivery.deliver(self._journal, unit, plan.rows)
        if plan.approval is not None:
            self._approvals.remember(plan.approval)
            return await self._decision(session, plan.approval.approval_id, wait_seconds)
        if ended is None:
            return _refused(plan)
        return _outcome(await self._ended(session, ended), plan.name)

    def _recorded(self, session: RunSession, plan: Plan) -> tuple[Statement, ...]:
        """Records the plan in the ledger. It does not wait for the run's next write, which could follow the person's
        decision.
        """
        run_id, number, now = session.run_id, session.next_sequence(), self._clock.now()
        touch = ledger.touch(run_id, now, shown=session.shown, effects=session.effects)
        return touch, ledger.append(run_id, number, "action.decided", plan.told, now, source="host")

    async def _decision(self, session: RunSession, approval_id: str, seconds: float) -> ActionOutcome:
        if not seconds:
            return ActionOutcome(status="pending", approval_id=approval_id)
        async with self._slots.aside(person_of(session.event.envelope), held=not session.remote):
            decided = await within(session, self._approvals.wait(approval_id, seconds))
        if decided is None:
            told = f"nobody has decided within {seconds:g} s; it is still asked"
            raise Refused("approval_pending", told, details={"approval_id": approval_id})
        if decided.ended is None:
            return ActionOutcome(status="denied", approval_id=approval_id)
        return _outcome(await self._ended(session, decided.ended), decided.closed.action, approval_id)

    async def _ended(self, session: RunSession, ended: "asyncio.Future[Outcome]") -> Outcome | None:
        """Waits for the outcome of a send. Returns None if the platform takes too long."""

        async def outcome() -> Outcome:
            return await asyncio.shield(ended)

        try:
            async with asyncio.timeout(EXECUTION_SECONDS):
                return await within(session, outcome())
        except TimeoutError:
            return None


def _refused(plan: Plan) -> ActionOutcome:
    """Returns the outcome of a plan that the policy denies; raises if the run has no permission to request it."""
    if plan.refusal is not None and plan.refusal.code != "denied":
        raise plan.refusal
    return ActionOutcome(status="denied")


def _outcome(outcome: Outcome | None, name: str, approval_id: str | None = None) -> ActionOutcome:
    if outcome is None:
        return ActionOutcome(status="pending", approval_id=approval_id)
    if outcome.state != "sent":
        raise Refused("runtime_error", f"{name} was not done: {outcome.reason}")
    return ActionOutcome(status="done", approval_id=approval_id, result=outcome.sent.result)
