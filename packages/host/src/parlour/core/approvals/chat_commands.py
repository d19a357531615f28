"""Decisions that users write or press in a chat: `approve ab12`, or a button. They take effect directly, without a
queue.
"""

import re

from parlour.core.delivery.rendering.buttons import ACTION_ID
from parlour.core.errors import Refused
from parlour.core.model.chats import SURFACE
from parlour.core.model.command import Acted, ControlInput
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.routing.default_resolver import by_bot
from parlour.core.store.approvals import Approval
from parlour.core.texts.catalogue import text
from parlour.core.texts.languages import Languages

from .deciders import Decider
from .service import Approvals, Verdict

_SAID = re.compile(r"[\W_]*(approve|deny)\W+([a-z0-9]{4,12})(?:\W+(.*))?", re.IGNORECASE | re.DOTALL)
"""Matches a written decision. Users copy the prompt's quotes, end it with a full stop, or continue after a comma."""
_CHATS = ("webui", "platform")
NAME = "approval"


class Keywords:
    """Recognizes decisions on approvals among incoming events, and executes them."""

    def __init__(self, approvals: Approvals, languages: Languages) -> None:
        self._approvals = approvals
        self._languages = languages

    def recognize(self, event: EventEnvelope) -> ControlInput | None:
        """Returns the decision in an event. A press of an approval button is always a command, even if its prompt is
        outdated.
        """
        said = _said(event) if event.surface in _CHATS else ""
        match = _SAID.fullmatch(said)
        known = self._approvals.by_keyword(match[2].lower()) if match is not None else None
        if match is None or known is None or not _asked_here(known, event) or _by_other_bot(known, event):
            return ControlInput(NAME) if said and _pressed(event) else None
        return ControlInput(NAME, f"{match[1].lower()} {known.approval_id} {match[3] or ''}")

    async def act(self, control_input: ControlInput, event: RecordedEvent) -> Acted:
        if not control_input.argument:
            return Acted("no such question is known any more", self._languages.text(event, "approval.stale"))
        written, approval_id, reason = control_input.argument.split(" ", 2)
        verdict: Verdict = "approve" if written == "approve" else "deny"
        decider, language = Decider(event.envelope.actor), self._languages.of(event.envelope)
        try:
            await self._check_place(approval_id, event.envelope)
            closed = await self._approvals.decide(
                approval_id, verdict, decider, reason.strip(), tell=False, language=language
            )
        except Refused as refusal:
            told = f"{decider.shown}: {refusal.message}" if _pressed(event.envelope) else refusal.message
            return Acted(f"{approval_id} was not decided: {refusal.message}", told)
        seen = _pressed(event.envelope) and self._approvals.replaces(closed)
        word = text("approval.approved" if closed.status == "approved" else "approval.denied", language)
        return Acted(f"{approval_id} is {closed.status}", "" if seen else word)

    async def _check_place(self, approval_id: str, event: EventEnvelope) -> None:
        """Rejects a button press outside the prompt's own message: an agent could put the same value below another
        text.
        """
        if not _pressed(event):
            return
        asked_under = await self._approvals.asked_under(approval_id)
        if asked_under and event.data.get("message_id") != asked_under:
            raise Refused("denied", text("approval.no_question", self._languages.of(event)))


def _pressed(event: EventEnvelope) -> bool:
    return event.event_type == "interaction.received" and event.data.get("action_id") == ACTION_ID


def _said(event: EventEnvelope) -> str:
    if _pressed(event):
        return str(event.data.get("value") or "?")
    return event.text if event.event_type == "message.received" else ""


def _asked_here(known: Approval, event: EventEnvelope) -> bool:
    """Returns whether the event is from the chat of the prompt. If the prompt names no account, any account of the bot
    counts.
    """
    there = tuple(known.chat[part] for part in ("surface", "bot_id", "principal"))
    return there == (event.surface, event.bot_id, event.principal) and known.chat["chat"] in _chats(event)


def _by_other_bot(known: Approval, event: EventEnvelope) -> bool:
    """Returns whether the sender is a bot that the policy does not name; bots are ignored, whatever their role is."""
    return by_bot(event) and event.actor.id not in known.who["users"]


def _chats(event: EventEnvelope) -> tuple[str, ...]:
    if event.surface != SURFACE:
        return (event.chat,)
    kind, native = event.data.get("chat_type"), event.data.get("chat_id")
    return event.chat, f"{kind}:{native}"
