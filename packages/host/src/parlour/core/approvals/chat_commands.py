"""Decisions that users write or press in a chat: `approve ab12`, or a button. They take effect directly, without a
queue.
"""

import re

from parlour.core.delivery.rendering.components import APPROVAL_ACTION_ID
from parlour.core.errors import CallRejected
from parlour.core.model.chats import PLATFORM_SURFACE
from parlour.core.model.command import ChatCommand, CommandResult
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ids import ApprovalId
from parlour.core.routing.default_resolver import sent_by_bot
from parlour.core.store.approvals import Approval
from parlour.core.texts.catalogue import text
from parlour.core.texts.languages import Languages

from .decisions import Decider
from .service import ApprovalService, Verdict

_DECISION_PATTERN = re.compile(r"[\W_]*(approve|always|deny)\W+([a-z0-9]{4,12})(?:\W+(.*))?", re.IGNORECASE | re.DOTALL)
"""Matches a written decision. Users copy the prompt's quotes, end it with a full stop, or continue after a comma."""
_VERDICTS: dict[str, Verdict] = {"approve": "approve", "always": "always", "deny": "deny"}
_CHATS = ("webui", "platform")
COMMAND_NAME = "approval"


class ApprovalCommands:
    """Recognizes decisions on approvals among incoming events, and executes them."""

    def __init__(self, approvals: ApprovalService, languages: Languages) -> None:
        self._approvals = approvals
        self._languages = languages

    def recognize(self, event: EventEnvelope) -> ChatCommand | None:
        """Returns the decision in an event. A press of an approval button is always a command, even if its prompt is
        outdated.
        """
        decision = _decision_text(event) if event.surface in _CHATS else ""
        match = _DECISION_PATTERN.fullmatch(decision)
        approval = self._approvals.by_keyword(match[2].lower()) if match is not None else None
        if (
            match is None
            or approval is None
            or not _was_asked_in_chat_of(approval, event)
            or _is_ignored_bot(approval, event)
        ):
            return ChatCommand(COMMAND_NAME) if decision and _is_button_press(event) else None
        return ChatCommand(COMMAND_NAME, f"{match[1].lower()} {approval.approval_id} {match[3] or ''}")

    async def execute(self, control_input: ChatCommand, event: RecordedEvent) -> CommandResult:
        if not control_input.argument:
            return CommandResult("no such question is known any more", self._languages.text(event, "approval.stale"))
        decision, named, reason = control_input.argument.split(" ", 2)
        approval_id = ApprovalId(named)
        verdict: Verdict = _VERDICTS[decision]
        decider, language = Decider(event.envelope.actor), self._languages.for_event(event.envelope)
        try:
            await self._check_button_message(approval_id, event.envelope)
            approval = await self._approvals.decide(
                approval_id, verdict, decider, reason.strip(), post_decision=False, language=language
            )
        except CallRejected as refusal:
            message = (
                f"{decider.display_name}: {refusal.message}" if _is_button_press(event.envelope) else refusal.message
            )
            return CommandResult(f"{approval_id} was not decided: {refusal.message}", message)
        is_shown_in_prompt = _is_button_press(event.envelope) and self._approvals.edits_prompt(approval)
        reply = text("approval.approved" if approval.status == "approved" else "approval.denied", language)
        return CommandResult(f"{approval_id} is {approval.status}", "" if is_shown_in_prompt else reply)

    async def _check_button_message(self, approval_id: ApprovalId, event: EventEnvelope) -> None:
        """Rejects a button press outside the prompt's own message: an agent could put the same value below another
        text.
        """
        if not _is_button_press(event):
            return
        prompt_message_id = await self._approvals.prompt_message_id(approval_id)
        if prompt_message_id and event.data.get("message_id") != prompt_message_id:
            raise CallRejected("denied", text("approval.no_question", self._languages.for_event(event)))


def _is_button_press(event: EventEnvelope) -> bool:
    return event.event_type == "interaction.received" and event.data.get("action_id") == APPROVAL_ACTION_ID


def _decision_text(event: EventEnvelope) -> str:
    if _is_button_press(event):
        return str(event.data.get("value") or "?")
    return event.text if event.event_type == "message.received" else ""


def _was_asked_in_chat_of(approval: Approval, event: EventEnvelope) -> bool:
    """Returns whether the event is from the chat of the prompt. If the prompt names no account, any account of the bot
    counts.
    """
    location = tuple(approval.chat[part] for part in ("surface", "bot_id", "principal"))
    return location == (event.surface, event.bot_id, event.principal) and approval.chat["chat"] in _chats(event)


def _is_ignored_bot(approval: Approval, event: EventEnvelope) -> bool:
    """Returns whether the sender is a bot that the policy does not name; bots are ignored, whatever their role is."""
    return sent_by_bot(event) and event.actor.id not in approval.who["users"]


def _chats(event: EventEnvelope) -> tuple[str, ...]:
    if event.surface != PLATFORM_SURFACE:
        return (event.chat,)
    kind, native = event.data.get("chat_type"), event.data.get("chat_id")
    return event.chat, f"{kind}:{native}"
