"""Names LINE's ids and sources: users, groups and chats of several users, which LINE calls rooms."""

from typing import Any

from parlour.platforms._kit.payloads import Payload, identifier, text
from parlour_sdk.protocol.people import ChatType, Group, User
from parlour_sdk.values import dataclass

NAME = "line"
SERVICE = "LINE"
STICKER, EMOJI = "sticker", "emoji"
"""Kinds of faces: the first part of their ids."""
BUTTONS_PREFIX = "buttons:"
"""Beginning of the ids of messages with buttons. LINE does not say to which message a pressed button belongs, so that
the button's data names it, and the message has this id before LINE shows it.
"""


@dataclass(frozen=True, slots=True)
class LineSource:
    """Where an event comes from."""

    kind: str
    chat_id: str
    user_id: str = ""

    @property
    def chat_type(self) -> ChatType:
        return "private" if self.kind == "user" else "group"

    @property
    def chat(self) -> dict[str, Any]:
        """Returns the fields of an event about its chat."""
        group = {"group": Group(id=self.chat_id)} if self.chat_type == "group" else {}
        return {"chat_type": self.chat_type, "chat_id": self.chat_id, **group}


def source(payload: Payload) -> LineSource:
    """Reads the source of an event. Raises ValueError if it has none. LINE hides users of groups without consent."""
    match payload.get("type"):
        case "user":
            user_id = identifier(payload.get("userId"))
            return LineSource("user", user_id, user_id)
        case "group" | "room" as kind:
            return LineSource(kind, identifier(payload.get(f"{kind}Id")), text(payload, "userId"))
    raise ValueError("an event comes from a user, a group or a room")


def chat_kind(chat_id: str) -> str:
    """Returns what an id of LINE names: a user, a group or a room."""
    return {"C": "group", "R": "room"}.get(chat_id[:1], "user")


def user(user_id: str, profile: Payload) -> User:
    return User(
        id=user_id or "unknown", nickname=text(profile, "displayName"), avatar_url=text(profile, "pictureUrl") or None
    )
