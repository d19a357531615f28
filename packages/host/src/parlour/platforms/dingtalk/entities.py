"""Names, chats, users and groups of DingTalk."""

from parlour.platforms._kit.payloads import Payload, text
from parlour_sdk.protocol.people import ChatType, Group, User

NAME = "dingtalk"
SERVICE = "DingTalk"
API_URL = "https://api.dingtalk.com"
OLD_API_URL = "https://oapi.dingtalk.com"
CARD_PREFIX = "card-"
"""Beginning of the message ids of cards."""
UNKNOWN_STAFF = "$:"
"""Beginning of the ids of people outside the company, whom the robot can answer only through their session."""


def chat_type(message: Payload) -> ChatType:
    return "group" if text(message, "conversationType") == "2" else "private"


def sender_id(message: Payload) -> str:
    """Returns the id of the sender within the company; people outside of it have another one."""
    return text(message, "senderStaffId") or text(message, "senderId")


def chat_id(message: Payload) -> str:
    """Returns the chat of a message: a group, or the sender."""
    return text(message, "conversationId") if chat_type(message) == "group" else sender_id(message)


def user(user_id: str, name: str = "", avatar: str = "") -> User:
    return User(id=user_id, nickname=name, avatar_url=avatar or None)


def group(group_id: str, title: str = "") -> Group:
    return Group(id=group_id, name=title)
