"""Creates approvals: the fixed call, who may decide, where it is asked, and the prompt that asks it. Writes nothing."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from parlour.core.delivery import targets
from parlour.core.delivery.composer import MessageComposer
from parlour.core.delivery.targets import PLATFORM, chat_type
from parlour.core.model.approval_policy import ApprovalRule
from parlour.core.model.chats import chat_key
from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import ApprovalId, BotId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import Clock, Ids
from parlour.core.runs.session import RunSession
from parlour.core.store.approvals import Approval
from parlour.core.texts.languages import Languages
from parlour_sdk.values import dataclass

from .decisions import identity
from .texts import compose_prompt, prompt_text
from .tracker import PendingApprovals

_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
MIN_KEYWORD_CHARACTERS = 4
EMPTY_ADDRESS = {"chat_type": "", "chat_id": "", "thread_id": ""}


@dataclass(frozen=True, slots=True)
class ApprovalSubject:
    """The call that needs an approval."""

    action: str
    call: dict[str, Any]
    """The exact call that is executed after approval."""
    words: str
    """The call as the prompt shows it."""
    bot_id: BotId
    """Bot that asks in the chat that the rule names, unless the rule names its own."""


class ApprovalFactory:
    """Creates approvals with their prompts."""

    def __init__(
        self, pending: PendingApprovals, composer: MessageComposer, languages: Languages, ids: Ids, clock: Clock
    ) -> None:
        self._pending = pending
        self._composer = composer
        self._languages = languages
        self._ids = ids
        self._clock = clock

    def language(self, session: RunSession) -> str:
        """Returns the language in which the prompt is written."""
        return self._languages.for_event(session.event.envelope)

    def create(self, session: RunSession, subject: ApprovalSubject, rule: ApprovalRule) -> tuple[Approval, OutboxRow]:
        """Returns a pending approval and the outbox row of its prompt, which is edited when it is decided."""
        now = self._clock.now()
        language = self.language(session)
        if session.event.envelope.is_preview:  # its author and operators decide, and no chat shows the question
            rule = ApprovalRule("ask", roles=(), requester=True, seconds=rule.seconds)
        approval = self._create_approval(session, subject, rule, now)
        row = compose_prompt(self._composer, session.event, approval, prompt_text(approval, now, language))
        return replace(approval, chat={**approval.chat, "asked_by": row.outbox_id}), row

    def _create_approval(self, session: RunSession, subject: ApprovalSubject, rule: ApprovalRule, now: int) -> Approval:
        approval_id, event, agent = ApprovalId(self._ids.new()), session.event, session.binding.agent
        return Approval(
            approval_id=approval_id,
            keyword=_keyword(approval_id, self._pending.by_keyword),
            status="pending",
            action=subject.action,
            call=subject.call,
            words=subject.words,
            agent_id=agent.agent_id,
            run_id=session.run_id,
            event_seq=event.seq,
            conversation_id=event.conversation_id,
            chat=_prompt_location(event, rule, subject.bot_id, DeliveryPolicy.decode(agent.delivery_policy)),
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
