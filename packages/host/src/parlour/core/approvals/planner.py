"""Decides what happens to an action that a run requests: refused, executed, or put before a person. Writes nothing.

The runner's permission, the agent's policy and the adapter's manifest must all allow it.
"""

from collections.abc import Mapping
from typing import Any

from parlour.core.access import audit
from parlour.core.delivery.action_rows import ActionRowFactory
from parlour.core.errors import CallRejected
from parlour.core.model.approval_policy import ELSEWHERE_PREFIX, ApprovalPolicy, ApprovalRule, is_granted
from parlour.core.model.ports import Clock
from parlour.core.platforms.actions import PlatformAction
from parlour.core.runs.action_plan import ActionPlan
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.session import RunSession
from parlour.core.store import approvals as approval_rows
from parlour.core.store import outbox_rows
from parlour.core.store.approvals import Approval

from .action_parser import ActionParser
from .creation import ApprovalFactory, ApprovalSubject
from .texts import action_text
from .tracker import PendingApprovals


class ApprovalActionPlanner:
    """Plans the actions that runs request."""

    def __init__(
        self,
        parser: ActionParser,
        approvals: ApprovalFactory,
        pending: PendingApprovals,
        executor: ActionRowFactory,
        clock: Clock,
    ) -> None:
        self._parser = parser
        self._approvals = approvals
        self._pending = pending
        self._executor = executor
        self._clock = clock

    async def plan(
        self, session: RunSession, action: str, target: Mapping[str, Any] | None, payload: Mapping[str, Any] | None
    ) -> ActionPlan:
        """Plans an action. Raises CallRejected for an invalid request; a request that is not allowed is a plan too, as
        it is recorded.
        """
        if session.event.envelope.is_preview:
            return self._refusal_plan(session, action[:64], "denied", "a preview sends nothing to a platform")
        parsed = await self._parser.parse(session, action, target or {}, payload or {})
        name = f"{ELSEWHERE_PREFIX}{parsed.name}" if parsed.elsewhere else parsed.name
        if not _is_granted(session, name, parsed.name, action):
            return self._refusal_plan(session, name, "unauthorized", f"the action '{name}' was not granted to this run")
        rule = ApprovalPolicy.decode(session.binding.agent.approval_policy).rule(name)
        match rule.decision:
            case "allow":
                return self._execution_plan(session, name, parsed)
            case "ask":
                return self._approval_plan(session, name, parsed, rule)
            case _:
                return self._refusal_plan(session, name, "denied", f"the agent's policy does not allow '{name}'")

    def on_approval_committed(self, approval: Approval) -> None:
        """Starts waiting for the decision on a planned approval that is committed."""
        self._pending.track(approval)

    def _execution_plan(self, session: RunSession, name: str, parsed: PlatformAction) -> ActionPlan:
        rows = self._executor.create_rows(parsed.to_stored(), session.event.conversation_id, session.run_id)
        ledger_data = {"action": name, "status": "begun", "outbox_id": rows[-1].outbox_id}
        return ActionPlan(name, ledger_data, [outbox_rows.insert(row) for row in rows], rows)

    def _approval_plan(self, session: RunSession, name: str, parsed: PlatformAction, rule: ApprovalRule) -> ActionPlan:
        event = session.event.envelope
        words = action_text(parsed, event, self._approvals.language(session))
        approval, row = self._approvals.create(
            session, ApprovalSubject(parsed.name, parsed.to_stored(), words, parsed.bot_id), rule
        )
        ledger_data = {"action": name, "status": "pending", "approval_id": approval.approval_id}
        return ActionPlan(
            name, ledger_data, [approval_rows.insert(approval), outbox_rows.insert(row)], [row], approval=approval
        )

    def _refusal_plan(self, session: RunSession, name: str, code: str, message: str) -> ActionPlan:
        caller = ActionCaller(session.executor, session.grant, session)
        now = self._clock.now()
        entry = audit.access_entry(caller, session.run_id, "platform_action", name, "", "denied", code, now)
        ledger_data = {"action": name, "status": "denied", "code": code, "message": message}
        return ActionPlan(name, ledger_data, [entry], refusal=CallRejected(code, message))


def _is_granted(session: RunSession, name: str, own_name: str, action: str) -> bool:
    """Returns whether the run may request it. A permission for `platform.call` covers every action of the platform's
    own.
    """
    patterns = session.grant.actions
    return is_granted(name, patterns) or is_granted(name.removesuffix(own_name) + action, patterns)
