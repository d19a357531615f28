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
from parlour.core.model.ids import ApprovalId, BotId
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
from .texts import action_text, compose_prompt, prompt_text
from .tracker import PendingApprovals

_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
MIN_KEYWORD_CHARACTERS = 4
EMPTY_ADDRESS = {"chat_type": "", "chat_id": "", "thread_id": ""}


class ApprovalActionPlanner:
    """Plans the actions that runs request."""

    def __init__(
        self,
        parser: ActionParser,
        pending: PendingApprovals,
        executor: ActionRowFactory,
        composer: MessageComposer,
        languages: Languages,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._parser = parser
        self._pending = pending
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
        now = self._clock.now()
        language = self._languages.for_event(session.event.envelope)
        approval = self._create_approval(session, parsed, rule, language, now)
        row = compose_prompt(self._composer, session.event, approval, prompt_text(approval, now, language))
        approval = replace(
            approval, chat={**approval.chat, "asked_by": row.outbox_id}
        )  # it is edited when it is decided
        ledger_data = {"action": name, "status": "pending", "approval_id": approval.approval_id}
        return ActionPlan(
            name, ledger_data, [approval_rows.insert(approval), outbox_rows.insert(row)], [row], approval=approval
        )

    def _create_approval(
        self, session: RunSession, parsed: PlatformAction, rule: ApprovalRule, language: str, now: int
    ) -> Approval:
        approval_id, event, agent = ApprovalId(self._ids.new()), session.event, session.binding.agent
        return Approval(
            approval_id=approval_id,
            keyword=_keyword(approval_id, self._pending.by_keyword),
            status="pending",
            action=parsed.name,
            call=parsed.to_stored(),
            words=action_text(parsed, event.envelope, language),
            agent_id=agent.agent_id,
            run_id=session.run_id,
            event_seq=event.seq,
            conversation_id=event.conversation_id,
            chat=_prompt_location(event, rule, parsed.bot_id, DeliveryPolicy.decode(agent.delivery_policy)),
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
        ledger_data = {"action": name, "status": "denied", "code": code, "message": message}
        return ActionPlan(name, ledger_data, [entry], refusal=CallRejected(code, message))


def _is_granted(session: RunSession, name: str, own_name: str, action: str) -> bool:
    """Returns whether the run may request it. A permission for `platform.call` covers every action of the platform's
    own.
    """
    patterns = session.grant.actions
    return is_granted(name, patterns) or is_granted(name.removesuffix(own_name) + action, patterns)


def _prompt_location(event: RecordedEvent, rule: ApprovalRule, bot_id: BotId, policy: DeliveryPolicy) -> dict[str, Any]:
    """Returns the location of the prompt, which a decision must match; with an address only if it is another chat than
    the event's own.

    Decisions written in a platform's chat come from there, even if an API key brought the event. A user who sent a
    friend request is not a friend yet and is not asked; neither is a group that the bot is only invited to.
    """
    if rule.show_in:
        address = {"thread_id": "", **rule.show_in}
        return _chat(BotId(address.pop("bot_id", "")) or bot_id, address, address)
    envelope = event.envelope
    if envelope.surface == PLATFORM and envelope.data.get("request_id"):
        fallback = {**EMPTY_ADDRESS, **policy.fallback_target}
        return _chat(BotId(fallback.pop("bot_id", "")) or envelope.bot_id, fallback, fallback)
    reply_target = targets.reply_target(event, policy)
    if reply_target.surface == PLATFORM and not reply_target.has_no_chat:
        is_same_chat = reply_target.target == event.conversation_id
        return _chat(reply_target.bot_id, reply_target.address, {} if is_same_chat else reply_target.address)
    location = {"surface": envelope.surface, "bot_id": envelope.bot_id, "chat": envelope.chat}
    return {**location, "principal": envelope.principal, "address": {}}


def _chat(bot_id: BotId, chat_address: dict[str, str], address: dict[str, str]) -> dict[str, Any]:
    chat = chat_key((chat_type(chat_address), chat_address["chat_id"]), chat_address.get("account", ""))
    return {"surface": PLATFORM, "bot_id": bot_id, "chat": chat, "principal": "", "address": address}


def _keyword(approval_id: ApprovalId, is_taken: Callable[[str], object]) -> str:
    """Returns a short keyword that no other recent approval has."""
    number = int.from_bytes(hashlib.sha256(approval_id.encode()).digest())
    keyword = ""
    while len(keyword) < MIN_KEYWORD_CHARACTERS or is_taken(keyword):
        number, digit = divmod(number, len(_ALPHABET))
        keyword += _ALPHABET[digit]
    return keyword
