"""Actions that runs ask for by a call: written down, begun, and waited for as long as the run wants to wait."""

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
"""How long a run is kept waiting for a platform; then it goes on, and the action with it."""


class ActionRequests:
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
        """Raises Refused when the run may not ask for it, it makes no sense, or waiting for a person was in vain."""
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
        """At once: with the run's next write it would come after what a person decided meanwhile."""
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
        """None when the platform takes its time."""

        async def outcome() -> Outcome:
            return await asyncio.shield(ended)

        try:
            async with asyncio.timeout(EXECUTION_SECONDS):
                return await within(session, outcome())
        except TimeoutError:
            return None


def _refused(plan: Plan) -> ActionOutcome:
    """What the policy denies is an outcome; what the run may not ask for at all is a refusal."""
    if plan.refusal is not None and plan.refusal.code != "denied":
        raise plan.refusal
    return ActionOutcome(status="denied")


def _outcome(outcome: Outcome | None, name: str, approval_id: str | None = None) -> ActionOutcome:
    if outcome is None:
        return ActionOutcome(status="pending", approval_id=approval_id)
    if outcome.state != "sent":
        raise Refused("runtime_error", f"{name} was not done: {outcome.reason}")
    return ActionOutcome(status="done", approval_id=approval_id, result=outcome.sent.result)
