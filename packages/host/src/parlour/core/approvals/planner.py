"""Decides what happens to an action that a run requests: refused, executed, or put before a person. Writes nothing.

The runner's permission, the agent's policy and the adapter's manifest must all allow it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from parlour.core.access import audit
from parlour.core.delivery.action_rows import ActionRowFactory
from parlour.core.delivery.service import DeliveryService
from parlour.core.errors import CallRejected
from parlour.core.model.ports import Clock, Ids
from parlour.core.platforms import actions
from parlour.core.platforms.actions import PlatformAction
from parlour.core.platforms.connections import PlatformBots
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.runs.action_plan import ActionPlan
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.session import RunSession
from parlour.core.store import approvals as approval_rows
from parlour.core.store import outbox_rows
from parlour.core.store.approvals import Approval
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.known_messages import KnownMessages
from parlour.core.texts.languages import Languages

from . import prompts
from .payload_messages import PayloadMessages
from .policy import ELSEWHERE_PREFIX, ApprovalPolicy, ApprovalRule, is_granted
from .service import ApprovalService
from .texts import prompt_text


class ApprovalActionPlanner:
    """Plans the actions that runs request."""

    def __init__(
        self,
        bots: PlatformBots,
        artifacts: ArtifactService,
        messages: KnownMessages,
        approvals: ApprovalService,
        executor: ActionRowFactory,
        delivery: DeliveryService,
        languages: Languages,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._languages = languages
        self._bots = bots
        self._payloads = PayloadMessages(bots, artifacts, messages)
        self._messages = messages
        self._approvals = approvals
        self._executor = executor
        self._delivery = delivery
        self._ids = ids
        self._clock = clock

    async def plan(
        self, session: RunSession, action: str, target: Mapping[str, Any] | None, payload: Mapping[str, Any] | None
    ) -> ActionPlan:
        """Plans an action. Raises Refused for an invalid request; a request that is not allowed is a plan too, as it is
        recorded.
        """
        wanted = await self._parse_action(session, action, target or {}, payload or {})
        name = f"{ELSEWHERE_PREFIX}{wanted.name}" if wanted.elsewhere else wanted.name
        if not _is_granted(session, name, wanted.name, action):
            return self._refusal_plan(session, name, "unauthorized", f"the action '{name}' was not granted to this run")
        rule = ApprovalPolicy.decode(session.binding.agent.approval_policy).rule(name)
        match rule.decision:
            case "allow":
                return self._execution_plan(session, name, wanted)
            case "ask":
                return self._approval_plan(session, name, wanted, rule)
            case _:
                return self._refusal_plan(session, name, "denied", f"the agent's policy does not allow '{name}'")

    def on_approval_committed(self, approval: Approval) -> None:
        """Starts waiting for the decision on a planned approval that is committed."""
        self._approvals.track(approval)

    async def _parse_action(
        self, session: RunSession, action: str, target: Mapping[str, Any], payload: Mapping[str, Any]
    ) -> PlatformAction:
        bot_id = str(target.get("bot_id") or session.event.envelope.bot_id)
        chains = await self._payloads.chains(session, bot_id, payload)
        wanted = actions.parse_action(session.event, action, target, payload, chains)
        manifest = self._bots.manifest(wanted.bot_id)
        if manifest is None:
            raise CallRejected("not_found", f"there is no bot '{wanted.bot_id[:64]}'")
        actions.check_declared(wanted.calls, manifest)
        return replace(wanted, elsewhere=wanted.elsewhere or await self._targets_other_chat(session, wanted, manifest))

    async def _targets_other_chat(self, session: RunSession, wanted: PlatformAction, manifest: AdapterManifest) -> bool:
        """Returns whether an action reaches another chat without naming it: by a parameter, or by a message from
        elsewhere.
        """
        if actions.targets_other_place(session.event, wanted.calls, manifest):
            return True
        if manifest.message_ids == "chat":
            return False
        return not all([await self._messages.contains(session.event, each) for each in wanted.message_ids])

    def _execution_plan(self, session: RunSession, name: str, wanted: PlatformAction) -> ActionPlan:
        rows = self._executor.create_rows(wanted.to_stored(), session.event.conversation_id, session.run_id)
        told = {"action": name, "status": "begun", "outbox_id": rows[-1].outbox_id}
        return ActionPlan(name, told, [outbox_rows.insert(row) for row in rows], rows)

    def _approval_plan(self, session: RunSession, name: str, wanted: PlatformAction, rule: ApprovalRule) -> ActionPlan:
        now = self._clock.now()
        language = self._languages.for_event(session.event.envelope)
        asked = prompts.create_approval(
            self._ids.new(), session, wanted, rule, self._approvals.by_keyword, language, now
        )
        row = prompts.compose_prompt(self._delivery, session.event, asked, prompt_text(asked, now, language))
        asked = prompts.with_prompt_row(asked, row)
        told = {"action": name, "status": "pending", "approval_id": asked.approval_id}
        return ActionPlan(name, told, [approval_rows.insert(asked), outbox_rows.insert(row)], [row], approval=asked)

    def _refusal_plan(self, session: RunSession, name: str, code: str, message: str) -> ActionPlan:
        caller = ActionCaller(session.executor, session.grant, session)
        now = self._clock.now()
        entry = audit.access_entry(caller, session.run_id, "platform_action", name, "", "denied", code, now)
        told = {"action": name, "status": "denied", "code": code, "message": message}
        return ActionPlan(name, told, [entry], refusal=CallRejected(code, message))


def _is_granted(session: RunSession, name: str, own: str, action: str) -> bool:
    """Returns whether the run may request it. A permission for `platform.call` covers every action of the platform's
    own.
    """
    patterns = session.grant.actions
    return is_granted(name, patterns) or is_granted(name.removesuffix(own) + action, patterns)
