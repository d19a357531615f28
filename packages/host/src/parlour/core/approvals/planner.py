"""Decides what happens to an action that a run requests: refused, executed, or put before a person. Writes nothing.

The runner's permission, the agent's policy and the adapter's manifest must all allow it.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from parlour.core.access import audit
from parlour.core.delivery import targets
from parlour.core.delivery.action_rows import ActionRowFactory
from parlour.core.delivery.composer import MessageComposer
from parlour.core.delivery.targets import PLATFORM, chat_type
from parlour.core.errors import CallRejected
from parlour.core.model.chats import chat_key
from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ports import Clock, Ids
from parlour.core.platforms.actions import PlatformAction
from parlour.core.runs.action_plan import ActionPlan
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.session import RunSession
from parlour.core.store import approvals as approval_rows
from parlour.core.store import outbox_rows
from parlour.core.store.approvals import Approval
from parlour.core.texts.languages import Languages

from .action_parser import ActionParser
from .decisions import identity
from .policy import ELSEWHERE_PREFIX, ApprovalPolicy, ApprovalRule, is_granted
from .service import ApprovalService
from .texts import action_text, compose_prompt, prompt_text

_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
MIN_KEYWORD_CHARACTERS = 4
EMPTY_ADDRESS = {"chat_type": "", "chat_id": "", "thread_id": ""}


class ApprovalActionPlanner:
    """Plans the actions that runs request."""

    def __init__(
        self,
        parser: ActionParser,
        approvals: ApprovalService,
        executor: ActionRowFactory,
        composer: MessageComposer,
        languages: Languages,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._parser = parser
        self._approvals = approvals
        self._executor = executor
        self._composer = composer
        self._languages = languages
        self._ids = ids
        self._clock = clock

    async def plan(
        self, session: RunSession, action: str, target: Mapping[str, Any] | None, payload: Mapping[str, Any] | None
    ) -> ActionPlan:
        """Plans an action. Raises CallRejected for an invalid request; a request that is not allowed is a plan too, as
        it is recorded.
        """
        wanted = await self._parser.parse(session, action, target or {}, payload or {})
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

    def _execution_plan(self, session: RunSession, name: str, wanted: PlatformAction) -> ActionPlan:
        rows = self._executor.create_rows(wanted.to_stored(), session.event.conversation_id, session.run_id)
        told = {"action": name, "status": "begun", "outbox_id": rows[-1].outbox_id}
        return ActionPlan(name, told, [outbox_rows.insert(row) for row in rows], rows)

    def _approval_plan(self, session: RunSession, name: str, wanted: PlatformAction, rule: ApprovalRule) -> ActionPlan:
        now = self._clock.now()
        language = self._languages.for_event(session.event.envelope)
        asked = self._create_approval(session, wanted, rule, language, now)
        row = compose_prompt(self._composer, session.event, asked, prompt_text(asked, now, language))
        asked = replace(asked, chat={**asked.chat, "asked_by": row.outbox_id})  # it is edited when it is decided
        told = {"action": name, "status": "pending", "approval_id": asked.approval_id}
        return ActionPlan(name, told, [approval_rows.insert(asked), outbox_rows.insert(row)], [row], approval=asked)

    def _create_approval(
        self, session: RunSession, wanted: PlatformAction, rule: ApprovalRule, language: str, now: int
    ) -> Approval:
        approval_id, event, agent = self._ids.new(), session.event, session.binding.agent
        return Approval(
            approval_id=approval_id,
            keyword=_keyword(approval_id, self._approvals.by_keyword),
            status="pending",
            action=wanted.name,
            call=wanted.to_stored(),
            words=action_text(wanted, event.envelope, language),
            agent_id=agent.agent_id,
            run_id=session.run_id,
            event_seq=event.seq,
            conversation_id=event.conversation_id,
            chat=_prompt_location(event, rule, wanted.bot_id, DeliveryPolicy.decode(agent.delivery_policy)),
            requester=identity(event.envelope.actor),
            who={
                "users": list(rule.users),
                "roles": list(rule.roles),
                "requester": rule.requester,
                "principal": event.envelope.principal,
            },
            created_at=now,
            expires_at=now + int(rule.seconds * 1000),
        )

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


def _prompt_location(event: RecordedEvent, rule: ApprovalRule, bot_id: str, policy: DeliveryPolicy) -> dict[str, Any]:
    """Returns the location of the prompt, which a decision must match; with an address only if it is another chat than
    the event's own.

    Decisions written in a platform's chat come from there, even if an API key brought the event. A user who sent a
    friend request is not a friend yet and is not asked; neither is a group that the bot is only invited to.
    """
    if rule.show_in:
        address = {"thread_id": "", **rule.show_in}
        return _chat(address.pop("bot_id", "") or bot_id, address, address)
    envelope = event.envelope
    if envelope.surface == PLATFORM and envelope.data.get("request_id"):
        fallback = {**EMPTY_ADDRESS, **policy.fallback_target}
        return _chat(fallback.pop("bot_id", "") or envelope.bot_id, fallback, fallback)
    place = targets.reply_target(event, policy)
    if place.surface == PLATFORM and not place.has_no_chat:
        own = place.target == event.conversation_id
        return _chat(place.bot_id, place.address, {} if own else place.address)
    here = {"surface": envelope.surface, "bot_id": envelope.bot_id, "chat": envelope.chat}
    return {**here, "principal": envelope.principal, "address": {}}


def _chat(bot_id: str, where: dict[str, str], address: dict[str, str]) -> dict[str, Any]:
    chat = chat_key((chat_type(where), where["chat_id"]), where.get("account", ""))
    return {"surface": PLATFORM, "bot_id": bot_id, "chat": chat, "principal": "", "address": address}


def _keyword(approval_id: str, taken: Callable[[str], object]) -> str:
    """Returns a short keyword that no other recent approval has."""
    number = int.from_bytes(hashlib.sha256(approval_id.encode()).digest())
    keyword = ""
    while len(keyword) < MIN_KEYWORD_CHARACTERS or taken(keyword):
        number, digit = divmod(number, len(_ALPHABET))
        keyword += _ALPHABET[digit]
    return keyword
