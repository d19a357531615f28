"""Builds the texts and messages that users read about an approval: short, with the reply that decides it."""

from collections.abc import Mapping
from typing import Any

from parlour.core.delivery.composer import MessageComposer
from parlour.core.delivery.targets import explicit_target
from parlour.core.encoding import dumps
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.platforms.actions import PlatformAction
from parlour.core.store.approvals import Approval
from parlour.core.texts.catalogue import text
from parlour_sdk.values import dataclass

NOT_AWAITED = "the agent is no longer waiting"
"""Reason of a live question whose run ended before it was decided, also by a restart of the Host."""
MAX_ARGUMENT_CHARACTERS = 1000
MAX_COMMENT_CHARACTERS = 300
REQUEST_EVENT_KINDS = ("request_received", "invited_to_group", "group_join_request")


@dataclass(frozen=True, slots=True)
class ApprovalOccasion:
    """The event behind an action: names and ids of the sender and the group, and the text of a request."""

    actor_id: str
    actor_name: str
    group_id: str
    group_name: str
    comment: str


def read_occasion(actor_id: str, actor_name: str, data: Mapping[str, Any]) -> ApprovalOccasion:
    """Reads the occasion of an approval from the event that led to it."""
    group = data.get("group")
    group = group if isinstance(group, dict) else {"id": data.get("group_id")}
    comment = data.get("message", data.get("comment")) if data.get("request_id") else None
    return ApprovalOccasion(
        actor_id=actor_id,
        actor_name=_one_line(actor_name),
        group_id=_id(group.get("id")),
        group_name=_name(group.get("name")),
        comment=_name(comment),
    )


def action_text(action: PlatformAction, event: EventEnvelope, language: str) -> str:
    """Describes the action with its arguments and the event that it answers, shortened to fit into a message."""
    arguments = "; ".join(dumps(call["arguments"]) for call in action.calls)
    elsewhere_note = text("approval.elsewhere", language) if action.elsewhere else ""
    return f"{action.name}{elsewhere_note} {_shortened(arguments, language)}{_occasion_line(event, language)}"


def tool_call_text(tool_name: str, arguments: Mapping[str, Any], event: EventEnvelope, language: str) -> str:
    """Describes a tool call with its arguments and the event behind it, shortened to fit into a message."""
    return f"{tool_name} {_shortened(dumps(arguments), language)}{_occasion_line(event, language)}"


def live_question_text(title: str, details: str, event: EventEnvelope, language: str) -> str:
    """Describes what a running agent asks for, shortened to fit into a message."""
    lines = f"\n{_shortened(details, language)}" if details else ""
    return f"{_one_line(title)}{lines}{_occasion_line(event, language)}"


def _shortened(arguments: str, language: str) -> str:
    omitted_characters = len(arguments) - MAX_ARGUMENT_CHARACTERS
    truncation = text("approval.cut", language, beyond=omitted_characters) if omitted_characters > 0 else ""
    return f"{arguments[:MAX_ARGUMENT_CHARACTERS]}{truncation}"


def _occasion_line(event: EventEnvelope, language: str) -> str:
    occasion = read_occasion(event.actor.id, event.actor.name, event.data)
    actor = _name_with_id(occasion.actor_name, occasion.actor_id)
    if not actor:
        return ""
    group = _name_with_id(occasion.group_name, occasion.group_id)
    kind = event.event_type.rpartition(".")[2]
    if kind not in REQUEST_EVENT_KINDS:
        kind = "asked_in_group" if group else "asked"
    line = text(f"approval.occasion.{kind}", language, who=actor, group=group)
    return f"\n{line}" + (f": “{occasion.comment}”" if occasion.comment else "")


def _name_with_id(name: str, entity_id: str) -> str:
    if name:
        return f"{name} ({entity_id})" if entity_id else name
    return entity_id


def _id(value: object) -> str:
    return str(value) if isinstance(value, str | int) and value else ""


def _name(value: object) -> str:
    return _one_line(value) if isinstance(value, str) else ""


def _one_line(text: str) -> str:
    """Joins a user's text into one line, so that it can't imitate lines of the Host."""
    line = " ".join(text.split()).replace("“", '"').replace("”", '"')
    return line if len(line) <= MAX_COMMENT_CHARACTERS else f"{line[:MAX_COMMENT_CHARACTERS]}…"


def prompt_text(approval: Approval, now: int, language: str) -> str:
    """Returns the question to the people who may decide, in the given language."""
    time = _duration_text(approval.expires_at - now, language)
    key = "approval.question_always" if approval.offers_always else "approval.question"
    always = approval.call.get("always", "") if approval.offers_always else ""
    return text(key, language, what=approval.words, keyword=approval.keyword, time=time, always=always)


def _duration_text(milliseconds: int, language: str) -> str:
    """Formats a duration, rounded down so that it never promises too much."""
    seconds = milliseconds // 1000
    number, unit = (seconds // 60, "minute") if seconds >= 60 else (seconds, "second")
    return text(f"approval.time.{unit}{'' if number == 1 else 's'}", language, number=number)


def outcome_text(approval: Approval, decider_name: str, language: str) -> str:
    """Returns the text that replaces the prompt when the approval is decided or expired."""
    reason = f" {approval.reason}" if approval.reason and _status(approval) not in ("expired", "withdrawn") else ""
    return text(f"approval.concluded.{_status(approval)}", language, what=approval.words, by=decider_name) + reason


def decision_text(approval: Approval, language: str) -> str:
    """Returns the text that reports the decision."""
    return text(f"approval.verdict.{_status(approval)}", language, keyword=approval.keyword)


def _status(approval: Approval) -> str:
    if approval.reason == NOT_AWAITED:
        return "withdrawn"
    return approval.status if approval.status in ("approved", "denied") else "expired"


def compose_prompt(
    composer: MessageComposer, event: RecordedEvent, approval: Approval, text: str, edits: str = ""
) -> OutboxRow:
    """Composes a message about an approval in the chat where it was asked. `edits` names the row whose message it
    replaces.
    """
    message: dict[str, Any] = {"role": "assistant", "content": text, "approval": approval.frame}
    if edits:
        message["edits"] = edits
    address = approval.chat["address"]
    reply_target = explicit_target(approval.chat["bot_id"], address) if address else None
    return composer.compose_message(event, approval.run_id, "approval", message, reply_target=reply_target)
