"""Creates the approval for an action that needs a decision, and the message that asks for it."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from parlour.core.delivery import targets
from parlour.core.delivery.service import DeliveryService
from parlour.core.delivery.targets import PLATFORM, ReplyTarget, chat_type, explicit_target
from parlour.core.model.chats import chat_key
from parlour.core.model.delivery_policy import DeliveryPolicy
from parlour.core.model.event import RecordedEvent
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.platforms.actions import PlatformAction
from parlour.core.runs.session import RunSession
from parlour.core.store.approvals import Approval

from .decisions import identity
from .policy import ApprovalRule
from .texts import action_text

_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
MIN_KEYWORD_CHARACTERS = 4
EMPTY_ADDRESS = {"chat_type": "", "chat_id": "", "thread_id": ""}


def create_approval(
    approval_id: str,
    session: RunSession,
    wanted: PlatformAction,
    rule: ApprovalRule,
    taken: Callable[[str], object],
    language: str,
    now: int,
) -> Approval:
    """Creates a pending approval. `taken` returns a true value if a keyword is in use."""
    event = session.event
    return Approval(
        approval_id=approval_id,
        keyword=_keyword(approval_id, taken),
        status="pending",
        action=wanted.name,
        call=wanted.to_stored(),
        words=action_text(wanted, event.envelope, language),
        agent_id=session.binding.agent.agent_id,
        run_id=session.run_id,
        event_seq=event.seq,
        conversation_id=event.conversation_id,
        chat=_prompt_location(event, rule, wanted.bot_id, DeliveryPolicy.decode(session.binding.agent.delivery_policy)),
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


def with_prompt_row(approval: Approval, row: OutboxRow) -> Approval:
    """Returns the approval with the id of its prompt row, which is edited when it is decided."""
    return replace(approval, chat={**approval.chat, "asked_by": row.outbox_id})


def compose_prompt(
    delivery: DeliveryService, event: RecordedEvent, about: Approval, text: str, edits: str = ""
) -> OutboxRow:
    """Composes a message about an approval in the chat where it was asked. `edits` names the row whose message it
    replaces.
    """
    message: dict[str, Any] = {"role": "assistant", "content": text, "approval": about.frame}
    if edits:
        message["edits"] = edits
    address = about.chat["address"]
    place: ReplyTarget | None = explicit_target(about.chat["bot_id"], address) if address else None
    return delivery.composer.compose_message(event, about.run_id, "approval", message, place=place)


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
