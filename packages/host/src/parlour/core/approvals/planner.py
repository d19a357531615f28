"""Decides what happens to an action that a run requests: refused, executed, or put before a person. Writes nothing.

The runner's permission, the agent's policy and the adapter's manifest must all allow it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from parlour.core.access import audit
from parlour.core.delivery.action_rows import Executor
from parlour.core.delivery.composer import Delivery
from parlour.core.errors import Refused
from parlour.core.model.ports import Clock, Ids
from parlour.core.platforms import actions
from parlour.core.platforms.actions import Wanted
from parlour.core.platforms.connections import RunningBots
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.runs.action_plan import Plan
from parlour.core.runs.caller import Caller
from parlour.core.runs.session import RunSession
from parlour.core.store import approvals as approval_rows
from parlour.core.store import outbox_rows
from parlour.core.store.approvals import Approval
from parlour.core.store.artifact_service import Artifacts
from parlour.core.store.known_messages import KnownMessages
from parlour.core.texts.languages import Languages

from . import prompts
from .payloads import Payloads
from .policy import ELSEWHERE, ApprovalPolicy, Rule, granted
from .service import Approvals
from .texts import question


class Planner:
    """Plans the actions that runs request."""

    def __init__(
        self,
        bots: RunningBots,
        artifacts: Artifacts,
        messages: KnownMessages,
        approvals: Approvals,
        executor: Executor,
        delivery: Delivery,
        languages: Languages,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._languages = languages
        self._bots = bots
        self._payloads = Payloads(bots, artifacts, messages)
        self._messages = messages
        self._approvals = approvals
        self._executor = executor
        self._delivery = delivery
        self._ids = ids
        self._clock = clock

    async def plan(
        self, session: RunSession, action: str, target: Mapping[str, Any] | None, payload: Mapping[str, Any] | None
    ) -> Plan:
        """Plans an action. Raises Refused for an invalid request; a request that is not allowed is a plan too, as it is
        recorded.
        """
        wanted = await self._wanted(session, action, target or {}, payload or {})
        name = f"{ELSEWHERE}{wanted.name}" if wanted.elsewhere else wanted.name
        if not _granted(session, name, wanted.name, action):
            return self._refused(session, name, "unauthorized", f"the action '{name}' was not granted to this run")
        rule = ApprovalPolicy.decode(session.binding.agent.approval_policy).rule(name)
        match rule.decision:
            case "allow":
                return self._carried_out(session, name, wanted)
            case "ask":
                return self._asked(session, name, wanted, rule)
            case _:
                return self._refused(session, name, "denied", f"the agent's policy does not allow '{name}'")

    def asked(self, approval: Approval) -> None:
        """Starts waiting for the decision on a planned approval that is committed."""
        self._approvals.remember(approval)

    async def _wanted(
        self, session: RunSession, action: str, target: Mapping[str, Any], payload: Mapping[str, Any]
    ) -> Wanted:
        bot_id = str(target.get("bot_id") or session.event.envelope.bot_id)
        chains = await self._payloads.chains(session, bot_id, payload)
        wanted = actions.wanted(session.event, action, target, payload, chains)
        manifest = self._bots.manifest(wanted.bot_id)
        if manifest is None:
            raise Refused("not_found", f"there is no bot '{wanted.bot_id[:64]}'")
        actions.check_declared(wanted.calls, manifest)
        return replace(wanted, elsewhere=wanted.elsewhere or await self._reaches_beyond(session, wanted, manifest))

    async def _reaches_beyond(self, session: RunSession, wanted: Wanted, manifest: AdapterManifest) -> bool:
        """Returns whether an action reaches another chat without naming it: by a parameter, or by a message from
        elsewhere.
        """
        if actions.reaches_beyond(session.event, wanted.calls, manifest):
            return True
        if manifest.message_ids == "chat":
            return False
        return not all([await self._messages.of(session.event, each) for each in wanted.messages])

    def _carried_out(self, session: RunSession, name: str, wanted: Wanted) -> Plan:
        rows = self._executor.rows(wanted.frozen(), session.event.conversation_id, session.run_id)
        told = {"action": name, "status": "begun", "outbox_id": rows[-1].outbox_id}
        return Plan(name, told, [outbox_rows.put(row) for row in rows], rows)

    def _asked(self, session: RunSession, name: str, wanted: Wanted, rule: Rule) -> Plan:
        now = self._clock.now()
        language = self._languages.of(session.event.envelope)
        asked = prompts.approval(self._ids.new(), session, wanted, rule, self._approvals.by_keyword, language, now)
        row = prompts.prompt(self._delivery, session.event, asked, question(asked, now, language))
        asked = prompts.asked_by(asked, row)
        told = {"action": name, "status": "pending", "approval_id": asked.approval_id}
        return Plan(name, told, [approval_rows.put(asked), outbox_rows.put(row)], [row], approval=asked)

    def _refused(self, session: RunSession, name: str, code: str, message: str) -> Plan:
        caller = Caller(session.executor, session.grant, session)
        now = self._clock.now()
        entry = audit.access(caller, session.run_id, "platform_action", name, "", "denied", code, now)
        told = {"action": name, "status": "denied", "code": code, "message": message}
        return Plan(name, told, [entry], refusal=Refused(code, message))


def _granted(session: RunSession, name: str, own: str, action: str) -> bool:
    """Returns whether the run may request it. A permission for `platform.call` covers every action of the platform's
    own.
    """
    patterns = session.grant.actions
    return granted(name, patterns) or granted(name.removesuffix(own) + action, patterns)
