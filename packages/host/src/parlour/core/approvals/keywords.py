"""Decisions that people write or press in a chat: `approve ab12`, or a button. They act at once and enter no lane."""

import re

from parlour.core.access.refusal import Refused
from parlour.core.delivery.rendering.buttons import ACTION_ID
from parlour.core.events.control import Acted, ControlInput
from parlour.core.events.envelope import EventEnvelope, RecordedEvent

from .approval import Approval
from .approvals import Approvals, Verdict
from .deciders import Decider

_SAID = re.compile(r"\s*/?(approve|deny)\s+([a-z0-9]{4,12})(?:\s+(.{1,500}?))?\s*", re.IGNORECASE | re.DOTALL)
_CHATS = ("webui", "platform")


class Keywords:
    def __init__(self, approvals: Approvals) -> None:
        self._approvals = approvals

    def recognize(self, event: EventEnvelope) -> ControlInput | None:
        match = _SAID.fullmatch(_said(event)) if event.surface in _CHATS else None
        if match is None:
            return None
        known = self._approvals.by_keyword(match[2].lower())
        if known is None or not _asked_here(known, event):
            return None
        return ControlInput("approval", f"{match[1].lower()} {known.approval_id} {match[3] or ''}")

    async def act(self, control_input: ControlInput, event: RecordedEvent) -> Acted:
        written, approval_id, reason = control_input.argument.split(" ", 2)
        verdict: Verdict = "approve" if written == "approve" else "deny"
        decider = Decider(event.envelope.actor)
        try:
            closed = await self._approvals.decide(approval_id, verdict, decider, reason.strip(), tell=False)
        except Refused as refusal:
            return Acted(f"{approval_id} was not decided: {refusal.message}", refusal.message)
        return Acted(f"{approval_id} is {closed.status}", "Approved." if closed.status == "approved" else "Denied.")


def _said(event: EventEnvelope) -> str:
    match event.event_type:
        case "message.received":
            return event.text
        case "interaction.received" if event.data.get("action_id") == ACTION_ID:
            return str(event.data.get("value") or "")
        case _:
            return ""


def _asked_here(known: Approval, event: EventEnvelope) -> bool:
    """A keyword means something only where it was asked for."""
    there = tuple(known.chat[part] for part in ("surface", "bot_id", "chat", "principal"))
    return there == (event.surface, event.bot_id, event.chat, event.principal)
