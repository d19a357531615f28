"""Converts a mail into common events. Pure: the thread of a mail without References was looked up before.

A mail that can't be read becomes `platform.email.malformed`. Mails of machines, of senders that are not allowed, and
reports of failed deliveries are events of their own, which are never answered.
"""

import re
from email.message import Message
from email.parser import BytesHeaderParser, BytesParser
from email.policy import compat32
from typing import Any

from parlour.core.platforms.port import IncomingEvent
from parlour.platforms._kit.payloads import UNREADABLE, content_id, malformed_event
from parlour_sdk.protocol.chain import Component, MessageChain, Plain, Platform, Quote, Source, Unknown
from parlour_sdk.protocol.people import ChatType, Group, User
from parlour_sdk.protocol.platform_events import MessageReceived, PlatformSpecific
from parlour_sdk.values import dataclass

from . import headers
from .body import read_body
from .configuration import NAME, EmailSettings
from .headers import Address

UNPROVEN = "unproven:"
"""Prefix of the user id of a sender whose address is not proven, so that it is another user than the proven one."""
OWN_ID_PREFIX = "parlour."
"""Prefix of the ids of the bot's own mails."""
_PLAIN_ID = re.compile(r"[A-Za-z0-9_.:+=@-]{1,200}")
"""Ids of mails that can be a part of an address of the HTTP interface as they are."""
MAX_PART_DEPTH = 30
MAX_ADDRESSES_IN_DATA = 50
MAX_SHOWN_CHARACTERS = 3000


@dataclass(frozen=True, slots=True)
class ReceivedMail:
    """A mail of the mailbox. `thread` is the root of its thread if the mail itself does not name it."""

    message: Message
    received_at: int
    is_cut: bool = False
    thread: str = ""


@dataclass(frozen=True, slots=True)
class MailFacts:
    """What is needed to answer a mail."""

    message_id: str
    thread: str
    references: tuple[str, ...]
    subject: str
    chat_type: ChatType
    chat_id: str
    reply_to: str
    """The address to which an answer goes."""


def parse(content: bytes) -> Message:
    """Reads a mail. Of one whose parts are nested too deeply only the headers are read."""
    try:
        message = BytesParser(policy=compat32).parsebytes(content)
        if _is_flat(message):
            return message
    except RecursionError:
        pass
    return BytesHeaderParser(policy=compat32).parsebytes(content.split(b"\r\n\r\n", 1)[0] + b"\r\n\r\n")


def _is_flat(message: Message) -> bool:
    waiting = [(message, 0)]
    while waiting:
        part, depth = waiting.pop()
        if depth > MAX_PART_DEPTH:
            return False
        children = part.get_payload() if part.is_multipart() else []
        waiting += [(each, depth + 1) for each in children if isinstance(each, Message)]
    return True


def decode(mail: ReceivedMail, bot_id: str, settings: EmailSettings) -> list[IncomingEvent]:
    """Decodes a mail; the bot's own mails produce no event."""
    try:
        return _incoming(mail, bot_id, settings)
    except (*UNREADABLE, RecursionError) as error:
        shown = {"headers": _shown(mail.message)}
        malformed = malformed_event(NAME, bot_id, shown, type(error).__name__)
        return [IncomingEvent(malformed, self_id=settings.address)]


def facts(message: Message, thread: str, settings: EmailSettings) -> MailFacts:
    """Returns what an answer needs. Raises ValueError if the mail has no sender."""
    sender = _sender(message)
    chat_type, chat_id = _chat(message, sender, settings)
    references = headers.message_ids(message, "References") or headers.message_ids(message, "In-Reply-To")
    message_id = headers.own_id(message)
    reply_to = next(iter(headers.addresses(message, "Reply-To")), sender)
    return MailFacts(
        message_id=message_id,
        thread=thread or (references[0] if references else message_id),
        references=(*references, message_id),
        subject=headers.header(message, "Subject"),
        chat_type=chat_type,
        chat_id=chat_id,
        reply_to=reply_to.address,
    )


def is_own_id(message_id: str, settings: EmailSettings) -> bool:
    return message_id.startswith(OWN_ID_PREFIX) and message_id.endswith(f"@{settings.domain}")


def content_chain(message: Message, timestamp: int, is_cut: bool = False) -> MessageChain:
    """Returns the content of a mail as a chain."""
    body = read_body(message, is_cut)
    parents = headers.message_ids(message, "In-Reply-To")
    quoted: list[Component] = [Plain(text=body.quoted)] if body.quoted else []
    quote: list[Component] = [Quote(id=parents[0], origin=quoted)] if parents else []
    components = body.components or [Unknown(text="[a mail without content]")]
    return [Source(id=headers.own_id(message), time=timestamp), *quote, *components]


def _incoming(mail: ReceivedMail, bot_id: str, settings: EmailSettings) -> list[IncomingEvent]:
    message = mail.message
    sender = _sender(message)
    if sender.address in settings.own_addresses:
        return []
    message_id = headers.own_id(message)
    fields: dict[str, Any] = {
        "event_id": message_id if _PLAIN_ID.fullmatch(message_id) else content_id(message_id),
        "timestamp": headers.sent_at(message, mail.received_at),
        "bot_id": bot_id,
        "adapter_name": NAME,
    }
    failed = headers.failed_delivery(message)
    if failed is not None:
        chat = {"chat_type": "private", "chat_id": failed.recipient} if failed.recipient else {}
        data = {"message_id": failed.message_id, "status": failed.status, "diagnostic": failed.diagnostic, **chat}
        return [_specific("bounce", data, fields)]
    shown = {"sender_id": sender.address, "message_id": message_id, "subject": headers.header(message, "Subject")}
    reason = headers.machine_reason(message, sender.address)
    if reason:
        return [_specific("auto", {**shown, "reason": reason}, fields)]
    if not settings.allows(sender.address):
        return [_specific("refused", {**shown, "reason": "its sender is not among allowed_senders"}, fields)]
    if settings.subject_tag and f"[{settings.subject_tag}]" not in shown["subject"].lower():
        return [_specific("refused", {**shown, "reason": "its subject does not contain the tag"}, fields)]
    return [_message(mail, sender, fields, settings)]


def _message(mail: ReceivedMail, sender: Address, fields: dict[str, Any], settings: EmailSettings) -> IncomingEvent:
    message = mail.message
    known = facts(message, mail.thread, settings)
    results = headers.authentication(message, settings.authserv_id)
    user_id = sender.address if headers.is_proven(results, sender) else f"{UNPROVEN}{sender.address}"
    to = [each.address for each in headers.addresses(message, "To")]
    group = Group(id=known.chat_id, name=headers.bare_subject(known.subject)) if known.chat_type == "group" else None
    event = MessageReceived(
        **fields,
        chat_type=known.chat_type,
        chat_id=known.chat_id,
        group=group,
        message_id=known.message_id,
        message_chain=[*content_chain(message, fields["timestamp"], mail.is_cut), _details(message, known, results)],
        sender=User(id=user_id, nickname=sender.name or sender.address, username=sender.address),
    )
    answers_bot = any(is_own_id(each, settings) for each in headers.message_ids(message, "In-Reply-To"))
    return IncomingEvent(
        event.carrying(message),
        thread_id=known.thread,
        self_id=settings.address,
        addresses_bot=known.chat_type == "private" or answers_bot or bool(settings.own_addresses & set(to)),
    )


def _details(message: Message, known: MailFacts, results: dict[str, str]) -> Platform:
    """Returns the headers that agents and policies use. Models read the subject with the first mail of a thread."""
    is_first = len(known.references) == 1
    data = {
        "subject": known.subject,
        "to": [each.address for each in headers.addresses(message, "To")][:MAX_ADDRESSES_IN_DATA],
        "cc": [each.address for each in headers.addresses(message, "Cc")][:MAX_ADDRESSES_IN_DATA],
        "authentication": results,
    }
    text = f"\n[subject: {known.subject}]" if is_first and known.subject else ""
    return Platform(platform=NAME, component_type="mail", data=data, text=text)


def _specific(action: str, data: dict[str, Any], fields: dict[str, Any]) -> IncomingEvent:
    return IncomingEvent(PlatformSpecific(type=f"platform.{NAME}.{action}", action=action, data=data, **fields))


def _sender(message: Message) -> Address:
    senders = headers.addresses(message, "From") or headers.addresses(message, "Sender")
    if not senders:
        raise ValueError("a mail has a sender")
    return senders[0]


def _chat(message: Message, sender: Address, settings: EmailSettings) -> tuple[ChatType, str]:
    """Returns the chat: the sender alone, or all people of the mail besides the bot."""
    people = headers.addresses(message, "From", "To", "Cc")
    others = [each for each in people if each.address not in settings.own_addresses]
    if {each.address for each in others} <= {sender.address}:
        return "private", sender.address
    chat_id = headers.joined(others)
    return "group", chat_id if len(chat_id) <= headers.MAX_ID_CHARACTERS else content_id(chat_id)


def _shown(message: Message) -> str:
    """Returns the headers of a mail that can't be read."""
    try:
        return "\n".join(f"{name}: {value}" for name, value in message.items())[:MAX_SHOWN_CHARACTERS]
    except UNREADABLE:
        return ""
