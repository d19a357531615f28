"""Names WhatsApp's ids, users and chats, and states its limits."""

import re
from typing import Any

from parlour.platforms._kit.payloads import Payload, object_in, text
from parlour_sdk.protocol.people import ChatType, Group, User
from parlour_sdk.values import dataclass

NAME = "whatsapp"
SERVICE = "WhatsApp"
WINDOW_SECONDS = 24 * 3600
"""Seconds after a message of a user in which WhatsApp accepts messages that are no templates."""
WINDOW_REASON = "WhatsApp accepts answers within 24 hours after the last message of the user; later only templates"
MAX_TEXT_CHARACTERS = 4096
_NUMBER = re.compile(r"\+?\d+")


@dataclass(frozen=True, slots=True)
class WhatsAppChat:
    """The chat of a message: a user, or a group."""

    kind: ChatType
    id: str

    @property
    def fields(self) -> dict[str, Any]:
        """Returns the fields of an event about the chat."""
        group = {"group": Group(id=self.id)} if self.kind == "group" else {}
        return {"chat_type": self.kind, "chat_id": self.id, **group}


def sender_id(message: Payload) -> str:
    """Returns the number of the sender, or its business-scoped id if WhatsApp hides the number. Raises ValueError."""
    sender = text(message, "from") or text(message, "from_user_id")
    if not sender:
        raise ValueError("a message has a sender")
    return sender


def chat_of(message: Payload) -> WhatsAppChat:
    group_id = text(message, "group_id")
    return WhatsAppChat("group", group_id) if group_id else WhatsAppChat("private", sender_id(message))


def user(user_id: str, contacts: list[Payload]) -> User:
    """Returns a user with the name that came with the event."""
    known: Payload = next((each for each in contacts if user_id in (each.get("wa_id"), each.get("user_id"))), {})
    profile = object_in(known, "profile")
    return User(id=user_id, nickname=text(profile, "name"), username=text(profile, "username") or None)


def recipient(chat_type: ChatType, chat_id: str) -> Payload:
    """Returns the fields of a call that say to whom a message goes."""
    if chat_type == "group":
        return {"recipient_type": "group", "to": chat_id}
    name = "to" if _NUMBER.fullmatch(chat_id) else "recipient"
    return {"recipient_type": "individual", name: chat_id}


def digits(number: str) -> str:
    """Returns a number as WhatsApp names its owner: without plus sign, blanks and dashes."""
    return "".join(character for character in number if character.isdecimal())
