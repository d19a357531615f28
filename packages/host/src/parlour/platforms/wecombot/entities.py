"""Names, chats and users of AI bots of WeCom."""

from parlour.platforms._kit.payloads import Payload, object_in, text
from parlour_sdk.protocol.people import ChatType, Group, User

NAME = "wecombot"
SERVICE = "WeCom"
STREAM_EXPIRED_CODE = 846608
REPLY_EXPIRED_CODE = 846605
FEEDBACK_PREFIX = "fb-"
"""Beginning of the ids under which answers are rated; the id of the answer follows."""
CARD_PREFIX = "card-"
"""Beginning of the message ids of cards with buttons, which are the ids of their tasks."""


def chat_type(body: Payload) -> ChatType:
    return "group" if body.get("chattype") == "group" else "private"


def chat_id(body: Payload) -> str:
    """Returns the chat of a message: a group, or the user."""
    if chat_type(body) == "group":
        return text(body, "chatid")
    return text(object_in(body, "from"), "userid")


def user(user_id: str) -> User:
    """Returns a user. WeCom tells AI bots no names."""
    return User(id=user_id)


def group(group_id: str) -> Group:
    return Group(id=group_id, name="")
