"""Converts users, groups and members of the Bot API into common entities."""

from typing import Any

from parlour.core.platforms.port import PlatformRefused
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, MemberRole, User
from parlour_sdk.values import dataclass

from .values import Payload, identifier, number, object_in, text

_ROLES: dict[Any, MemberRole] = {"creator": "owner", "administrator": "admin"}
_HERE = ("creator", "administrator", "member")


@dataclass(frozen=True, slots=True)
class BotAccount:
    """The bot's own account."""

    id: str
    username: str = ""

    def matches_name(self, name: str) -> bool:
        return bool(self.username) and name.removeprefix("@").lower() == self.username.lower()


def parse_bot_account(told: Any) -> BotAccount:
    told = require_object(told)
    return BotAccount(identifier(told.get("id")), text(told, "username") or "")


def user(told: Payload) -> User:
    names = (text(told, "first_name"), text(told, "last_name"))
    return User(
        id=identifier(told.get("id")),
        nickname=" ".join(filter(None, names)) or text(told, "title") or "",
        username=text(told, "username"),
        is_bot=told.get("is_bot") is True,
    )


def sender(message: Payload) -> User:
    """Returns the visible sender: a channel or group that writes in its own name is no bot, even if a bot account
    writes for it.
    """
    speaking = object_in(message, "sender_chat")
    if not speaking and "from" not in message and message["chat"]["type"] == "channel":
        speaking = message["chat"]
    return user(speaking or message["from"])


def chat_type(chat: Payload) -> ChatType:
    match chat["type"]:
        case "private":
            return "private"
        case "group" | "supergroup" | "channel":
            return "group"
    raise ValueError("this is no type of chat")


def group(chat: Payload) -> Group:
    return Group(
        id=identifier(chat["id"]),
        name=text(chat, "title") or "",
        description=text(chat, "description"),
        member_count=number(chat.get("member_count")),
    )


def member(told: Payload, group_id: str) -> GroupMember:
    return GroupMember(
        user=user(require_object(told.get("user"))),
        group_id=group_id,
        role=role(told),
        title=text(told, "custom_title"),
    )


def role(told: Payload) -> MemberRole:
    return _ROLES.get(told.get("status"), "member")


def is_member(told: Payload) -> bool:
    """Returns whether the member is in the group."""
    return told.get("status") in _HERE or (told.get("status") == "restricted" and told.get("is_member") is True)


def is_muted(told: Payload) -> bool:
    """Returns whether the member is in the group and may not write there."""
    return told.get("status") == "restricted" and told.get("can_send_messages") is False


def require_object(answer: Any) -> Payload:
    if not isinstance(answer, dict):
        raise PlatformRefused("Telegram answered with something else than an object", permanent=True)
    return answer
