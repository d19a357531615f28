"""Puts tool calls before a person: records the call, asks, and parks the run until the decision."""

import asyncio
from collections.abc import Mapping
from typing import Any

from parlour.core.box.policy import EXEC_TOOL, BoxPolicy
from parlour.core.delivery.publisher import DeliveryPublisher
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Unit
from parlour.core.model.approval_policy import ASK_RULE, ApprovalRule
from parlour.core.model.ports import Clock
from parlour.core.model.providers import Tools
from parlour.core.model.resource_policy import in_platform_group
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.scope import await_in_run
from parlour.core.runs.session import RunSession
from parlour.core.runs.slots import RunSlotPool, actor_key
from parlour.core.store import approvals as approval_rows
from parlour.core.store import ledger, outbox_rows
from parlour.core.store.approvals import Approval
from parlour_sdk.protocol.tools import ToolOutcome

from .creation import ApprovalFactory, ApprovalSubject
from .texts import tool_call_text
from .tool_calls import TOOL_CALL_ACTION, ApprovedToolCalls, CallResult, stored_call
from .tool_policy import ALLOW_RULE, ToolPolicy
from .tracker import PendingApprovals

DEADLINE_MARGIN_SECONDS = 10.0
"""Seconds before a run's deadline at which it stops waiting for a decision, so that it can still answer."""


class ToolApprovals:
    """Asks before tools are called, as the agent's tool policy says."""

    def __init__(
        self,
        journal: Journal,
        approvals: ApprovalFactory,
        pending: PendingApprovals,
        publisher: DeliveryPublisher,
        calls: ApprovedToolCalls,
        slots: RunSlotPool,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._approvals = approvals
        self._pending = pending
        self._publisher = publisher
        self._calls = calls
        self._slots = slots
        self._clock = clock

    async def call(
        self, caller: ActionCaller, tool_name: str, parameters: dict[str, Any], rule: ApprovalRule
    ) -> ToolOutcome:
        """Asks for a decision on this call, and returns its outcome after an approval.

        Raises CallRejected if it is denied, or not decided while the run can wait; it is executed later then, if it is
        approved.
        """
        session = caller.run_session
        words = tool_call_text(tool_name, parameters, session.event.envelope, self._approvals.language(session))
        call = stored_call(caller.call_context(), tool_name, parameters)
        subject = ApprovalSubject(TOOL_CALL_ACTION, call, words, session.event.envelope.bot_id)
        approval, prompt = self._approvals.create(session, subject, rule)
        outcome = self._calls.expect(approval.approval_id)
        try:
            session.has_output = session.has_effects = True
            statements = (approval_rows.insert(approval), outbox_rows.insert(prompt))
            unit = Unit("action.request", (*self._ledger_statements(session, approval), *statements))
            await self._publisher.deliver(self._journal, unit, [prompt])
            self._pending.track(approval)
            async with self._slots.yield_slot(actor_key(session.event.envelope), holds_slot=not session.remote):
                await self._await_approval(session, approval)
            return (await await_in_run(session, _result(outcome))).unwrap()
        finally:
            self._calls.forget(approval.approval_id)

    def _ledger_statements(self, session: RunSession, approval: Approval) -> tuple[Any, ...]:
        run_id, now = session.run_id, self._clock.now()
        data = {
            "action": approval.action,
            "tool": approval.call["tool"],
            "status": "pending",
            "approval_id": approval.approval_id,
        }
        progress = ledger.update_progress(run_id, now, has_output=True, has_effects=True)
        return progress, ledger.append_event(
            run_id, session.next_sequence(), "action.decided", data, now, source="host"
        )

    async def _await_approval(self, session: RunSession, approval: Approval) -> None:
        """Waits until the call is approved; raises CallRejected otherwise."""
        seconds = (approval.expires_at - approval.created_at) / 1000 + DEADLINE_MARGIN_SECONDS
        if session.deadline_at:
            seconds = min(seconds, (session.deadline_at - self._clock.now()) / 1000 - DEADLINE_MARGIN_SECONDS)
        decision = await await_in_run(session, self._pending.wait(approval.approval_id, max(0.0, seconds)))
        if decision is None:
            message = "nobody has decided yet; the call is carried out when it is approved, so do not repeat it"
            raise CallRejected("approval_pending", message, details={"approval_id": approval.approval_id})
        closed = decision.approval
        if closed.status == "approved":
            return
        reason = f": {closed.reason}" if closed.reason else ""
        message = "nobody decided in time" if closed.status == "expired" else f"a person did not allow it{reason}"
        raise CallRejected("denied", f"the call was not carried out; {message}")


def tool_rule(
    session: RunSession, tool_name: str, parameters: Mapping[str, Any] | None = None, tools: Tools | None = None
) -> ApprovalRule:
    """Returns the rule for a call, by the policies of the run's agent as they were when the run was created.

    A command that the box policy asks about needs an approval unless the tool policy denies it. Without parameters,
    the rule is that of a call that may need one. Without `tools`, the default for MCP servers is left out. In a
    preview, every tool that may change something is asked about.
    """
    agent = session.binding.agent
    rule = ToolPolicy.decode(agent.tool_policy).rule(tool_name, _default_rule(session, tool_name, tools))
    if rule.decision == "allow" and session.event.envelope.is_preview:
        return ALLOW_RULE if tools is not None and tools.read_only(tool_name) else ASK_RULE
    if rule.decision != "allow" or not agent.box_policy:
        return rule
    box = BoxPolicy.decode(agent.box_policy)
    may_ask = bool(box.ask) and tool_name == EXEC_TOOL
    return ASK_RULE if box.asks(tool_name, parameters or {}) or (parameters is None and may_ask) else rule


def _default_rule(session: RunSession, tool_name: str, tools: Tools | None) -> ApprovalRule:
    """Returns the rule for a tool that no entry names: in groups, a tool of an MCP server that may change something is
    asked about, because everyone in the group can make the agent call it.
    """
    if tools is None or not in_platform_group(session.event.envelope) or tools.read_only(tool_name):
        return ALLOW_RULE
    is_mcp = any(each.tool_name == tool_name and each.source == "mcp" for each in tools.resources())
    return ASK_RULE if is_mcp else ALLOW_RULE


async def _result(outcome: "asyncio.Future[CallResult]") -> CallResult:
    return await asyncio.shield(outcome)
