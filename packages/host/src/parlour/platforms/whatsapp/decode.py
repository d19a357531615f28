"""Converts what WhatsApp reports into common events. Pure: files already have their content.

A report that can't be read becomes `platform.whatsapp.malformed`, so that it is visible and does not affect others.
"""

import re
from typing import Any

from parlour.core.model.reply_allowance import ReplyAllowance
from parlour.core.platforms.port import IncomingEvent
from parlour.platforms._kit.buttons import parse_button_data
from parlour.platforms._kit.payloads import (
    UNREADABLE,
    Payload,
    content_id,
    identifier,
    malformed_event,
    object_in,
    objects_in,
    text,
)
from parlour_sdk.protocol.chain import Source
from parlour_sdk.protocol.platform_events import (
    InteractionReceived,
    MessageDeleted,
    MessageEdited,
    MessageReaction,
    MessageReceived,
    PlatformSpecific,
)
from parlour_sdk.values import dataclass

from .client import explain_error
from .content import CONTENT, FILES, answers_bot, decode_chain
from .entities import NAME, WINDOW_REASON, WINDOW_SECONDS, chat_of, sender_id, user

FIELD, MESSAGE, STATUS, VALUE, AT = "field", "message", "status", "value", "time"
"""Keys of a report: the webhook's field, and one message or status, or the whole value of another field."""
CONTACTS = "contacts"
SAFETY_SECONDS = 60
"""Seconds before the end of the window in which no answer is started any more."""
SYSTEM_KINDS = ("system", "request_welcome")
_ACTION = re.compile(r"[^A-Za-z0-9_.]")


@dataclass(frozen=True, slots=True)
class WhatsAppDecodeContext:
    """The bot whose reports are decoded."""

    bot_id: str
    own_number: str = ""
    """The bot's number in digits, as WhatsApp names its owner."""

    def fields(self, event_id: str, seconds: Any) -> dict[str, Any]:
        """Returns the fields of every event. WhatsApp writes times as texts in most reports."""
        if isinstance(seconds, bool) or not isinstance(seconds, int | str) or not 0 <= int(seconds) < 2**43:
            raise ValueError("a time is a number of seconds")
        return {"event_id": event_id, "timestamp": int(seconds) * 1000, "bot_id": self.bot_id, "adapter_name": NAME}


def split_reports(payload: Payload, number_id: str) -> list[Any]:
    """Returns the reports of a call: one for each message and status to this number, and one for each other change."""
    reports: list[Any] = []
    entries = payload.get("entry")
    for entry in entries if isinstance(entries, list) else ():
        changes = entry.get("changes") if isinstance(entry, dict) else None
        for change in changes if isinstance(changes, list) else [entry]:
            value = change.get("value") if isinstance(change, dict) else None
            if not isinstance(value, dict):
                reports.append(change)
            elif "metadata" not in value:
                reports.append({FIELD: change.get(FIELD), VALUE: value, AT: entry.get(AT)})
            elif text(object_in(value, "metadata"), "phone_number_id") == number_id:
                reports += _items(change, value)
    return reports


def _items(change: Payload, value: Payload) -> list[Any]:
    """Returns the messages and statuses of a change, each with the contacts that are named beside them."""
    shared = {FIELD: change.get(FIELD), CONTACTS: value.get(CONTACTS, [])}
    items: list[Any] = []
    for kind, name in ((MESSAGE, "messages"), (STATUS, "statuses")):
        found = value.get(name, [])
        if not isinstance(found, list):
            items.append(change)
            continue
        items += [{**shared, kind: each} for each in found]
    return items or [{FIELD: change.get(FIELD), VALUE: value}]


def decode(report: Any, context: WhatsAppDecodeContext) -> IncomingEvent:
    try:
        incoming = _incoming(report, context)
    except UNREADABLE as error:
        incoming = IncomingEvent(malformed_event(NAME, context.bot_id, public(report), type(error).__name__))
    message = object_in(report, MESSAGE) if isinstance(report, dict) else {}
    return IncomingEvent(
        incoming.event.carrying(report),
        self_id=context.own_number,
        addresses_bot=incoming.addresses_bot,
        native_type=str(message.get("type") or (report.get(FIELD) if isinstance(report, dict) else ""))[:120],
        reply_allowance=incoming.reply_allowance,
    )


def _incoming(report: Payload, context: WhatsAppDecodeContext) -> IncomingEvent:
    if MESSAGE in report:
        return _message(report[MESSAGE], objects_in(report, CONTACTS), context)
    if STATUS in report:
        return IncomingEvent(_status(report[STATUS], context))
    name, value = identifier(report.get(FIELD)), report[VALUE]
    fields = context.fields(content_id(name, value, report.get(AT)), report.get(AT) or 0)
    return IncomingEvent(_specific(name, {"payload": public(value)}, fields))


def _message(message: Payload, contacts: list[Payload], context: WhatsAppDecodeContext) -> IncomingEvent:
    message_id, kind = identifier(message.get("id")), identifier(message.get("type"))
    fields = context.fields(message_id, message.get("timestamp"))
    chat, sender = chat_of(message), user(sender_id(message), contacts)
    allowance = _allowance(message_id, fields["timestamp"])
    match kind:
        case "reaction":
            reaction = message["reaction"]
            emoji = text(reaction, "emoji")
            return IncomingEvent(
                MessageReaction(
                    **fields,
                    **chat.fields,
                    message_id=identifier(reaction.get("message_id")),
                    user=sender,
                    reaction=emoji,
                    is_add=bool(emoji),
                ),
                reply_allowance=allowance,
            )
        case "edit":
            edit = message["edit"]
            content = decode_chain({**edit["message"], **_group(message)}, context.own_number)
            original = identifier(edit.get("original_message_id"))
            return IncomingEvent(
                MessageEdited(**fields, **chat.fields, message_id=original, new_content=content, editor=sender)
            )
        case "revoke":
            original = identifier(message["revoke"].get("original_message_id"))
            return IncomingEvent(MessageDeleted(**fields, **chat.fields, message_id=original, operator=sender))
        case "button" | "interactive" if pressed := _pressed(message):
            action_id, value = parse_button_data(pressed)
            context_id = text(object_in(message, "context"), "id")
            interaction = InteractionReceived(
                **fields,
                **chat.fields,
                interaction_id=message_id,
                user=sender,
                action_id=action_id,
                value=value,
                message_id=context_id or None,
            )
            return IncomingEvent(interaction, reply_allowance=allowance)
        case kind if kind in (*SYSTEM_KINDS, "interactive", "button"):
            data = {"payload": public(message), "chat_type": chat.kind, "chat_id": chat.id, "user_id": sender.id}
            return IncomingEvent(_specific(kind, data, fields))
    received = MessageReceived(
        **fields,
        **chat.fields,
        message_id=message_id,
        message_chain=[
            Source(id=message_id, time=fields["timestamp"]),
            *decode_chain(message, context.own_number),
        ],
        sender=sender,
    )
    return IncomingEvent(received, addresses_bot=answers_bot(message, context.own_number), reply_allowance=allowance)


def _group(message: Payload) -> Payload:
    return {"group_id": message["group_id"]} if "group_id" in message else {}


def _pressed(message: Payload) -> str:
    """Returns the data of a pressed button or a chosen row; empty for another kind of answer."""
    if message.get("type") == "button":
        return text(object_in(message, "button"), "payload")
    interactive = object_in(message, "interactive")
    kind = text(interactive, "type")
    return text(object_in(interactive, kind), "id") if kind in ("button_reply", "list_reply") else ""


def _allowance(message_id: str, timestamp: int) -> ReplyAllowance:
    """Returns the window for answers. The newest message of a chat opens it again."""
    return ReplyAllowance(
        handle=message_id,
        until=timestamp + (WINDOW_SECONDS - SAFETY_SECONDS) * 1000,
        then="hold",
        scope="chat",
        reason=WINDOW_REASON,
    )


def _status(status: Payload, context: WhatsAppDecodeContext) -> PlatformSpecific:
    """Decodes what became of a message of the bot."""
    message_id, state = identifier(status.get("id")), identifier(status.get("status"))
    fields = context.fields(f"{message_id}:{state}", status.get("timestamp"))
    chat_id = identifier(status.get("recipient_id") or status.get("recipient_user_id"))
    is_group = status.get("recipient_type") == "group"
    errors = objects_in(status, "errors")
    data: dict[str, Any] = {
        "status": state,
        "message_id": message_id,
        "chat_type": "group" if is_group else "private",
        "chat_id": chat_id,
    }
    if errors:
        data |= {"code": errors[0].get("code"), "reason": explain_error(errors[0])}
    return _specific("message_status", data, fields)


def _specific(action: str, data: dict[str, Any], fields: dict[str, Any]) -> PlatformSpecific:
    action = _ACTION.sub("_", action)[:80]
    return PlatformSpecific(type=f"platform.{NAME}.{action}", action=action, data=data, **fields)


def public(value: Any) -> Any:
    """Returns a report without the content of files that was added to it."""
    if not isinstance(value, dict):
        return value
    return {
        name: {key: inner for key, inner in each.items() if key != CONTENT}
        if name in FILES and isinstance(each, dict)
        else public(each)
        for name, each in value.items()
    }
