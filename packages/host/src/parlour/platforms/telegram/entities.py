"""Reads values of the Bot API, and converts users, groups and members into common entities.

Ids become strings without loss, and numbers again in requests.
"""

from typing import Any

from parlour.core.platforms.port import PlatformRefused
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, MemberRole, User
from parlour_sdk.values import dataclass

NAME = "telegram"
Payload = dict[str, Any]
_ROLES: dict[Any, MemberRole] = {"creator": "owner", "administrator": "admin"}
_HERE = ("creator", "administrator", "member")


def identifier(value: Any) -> str:
    """Returns an id as a string. Raises ValueError if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        raise ValueError("an id is a number or a text")
    return str(value)


def number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def text(data: Payload, name: str) -> str | None:
    value = data.get(name)
    return value if isinstance(value, str) and value else None


def object_in(data: Payload, name: str) -> Payload:
    """Returns an object field, or an empty object."""
    value = data.get(name)
    return value if isinstance(value, dict) else {}


def time_milliseconds(data: Payload, name: str = "date") -> int:
    """Returns a time in milliseconds. Raises ValueError if it is missing or out of range."""
    seconds = number(data.get(name))
    if seconds is None or seconds > 10**11:
        raise ValueError(f"{name} is no moment")
    return seconds * 1000


def native_id(name: str, value: str) -> int:
    """Converts an id for a request: Telegram's ids are numbers."""
    try:
        return int(value)
    except ValueError:
        reason = f"{name}: '{value[:60]}' is no id of Telegram; a whole number is expected"
        raise PlatformRefused(reason, permanent=True) from None


def native_chat_id(name: str, value: str) -> int | str:
    """Returns a chat id for a request, which may also be a public name such as @name."""
    return value if value.startswith("@") and len(value) > 1 else native_id(name, value)


@dataclass(frozen=True, slots=True)
class BotAccount:
    """The bot's own account."""

    id: str
    username: str = ""

    def matches_name(self, name: str) -> bool:
        return bool(self.username) and name.removeprefix("@").lower() == self.username.lower()


def parse_bot_account(answer: Any) -> BotAccount:
    answer = require_object(answer)
    return BotAccount(identifier(answer.get("id")), text(answer, "username") or "")


def user(payload: Payload) -> User:
    names = (text(payload, "first_name"), text(payload, "last_name"))
    return User(
        id=identifier(payload.get("id")),
        nickname=" ".join(filter(None, names)) or text(payload, "title") or "",
        username=text(payload, "username"),
        is_bot=payload.get("is_bot") is True,
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


def member(member_data: Payload, group_id: str) -> GroupMember:
    return GroupMember(
        user=user(require_object(member_data.get("user"))),
        group_id=group_id,
        role=role(member_data),
        title=text(member_data, "custom_title"),
    )


def role(member: Payload) -> MemberRole:
    return _ROLES.get(member.get("status"), "member")


def is_member(member: Payload) -> bool:
    """Returns whether the member is in the group."""
    return member.get("status") in _HERE or (member.get("status") == "restricted" and member.get("is_member") is True)


def is_muted(member: Payload) -> bool:
    """Returns whether the member is in the group and may not write there."""
    return member.get("status") == "restricted" and member.get("can_send_messages") is False


def require_object(answer: Any) -> Payload:
    if not isinstance(answer, dict):
        raise PlatformRefused("Telegram answered with something else than an object", permanent=True)
    return answer
