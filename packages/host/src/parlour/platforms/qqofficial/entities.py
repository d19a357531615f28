"""Names, chats and windows for replies of QQ's official bots."""

from urllib.parse import quote

from parlour.platforms._kit.payloads import Payload, text
from parlour_sdk.protocol.people import ChatType, Group, User

NAME = "qqofficial"
SERVICE = "QQ"
API_URL = "https://api.sgroup.qq.com"
TOKEN_URL = "https://bots.qq.com/app/getAppAccessToken"
MAX_GUILD_ID_DIGITS = 20
PRIVATE_SECONDS, GROUP_SECONDS = 3600, 300
MAX_REPLIES = 5
PRIVATE_REASON = "QQ accepts five replies within an hour of a private message"
GROUP_REASON = "QQ accepts five replies within five minutes of a message"
MESSAGE_HANDLE, EVENT_HANDLE = "msg_id", "event_id"
"""Which field of a reply names what it answers."""


def is_guild(chat_id: str) -> bool:
    """Returns whether a chat belongs to a guild: its ids are numbers, those of users and groups are not."""
    return chat_id.isdecimal() and len(chat_id) <= MAX_GUILD_ID_DIGITS


def chat_path(chat_type: ChatType, chat_id: str) -> str:
    """Returns the path below which a chat is addressed."""
    place = quote(chat_id, safe="")
    if is_guild(chat_id):
        return f"/channels/{place}" if chat_type == "group" else f"/dms/{place}"
    return f"/v2/groups/{place}" if chat_type == "group" else f"/v2/users/{place}"


def user(data: Payload) -> User:
    """Returns a user. The same person has another id in each group and for each bot."""
    user_id = text(data, "member_openid") or text(data, "user_openid") or text(data, "id") or text(data, "openid")
    if not user_id:
        raise ValueError("the user has no id")
    return User(
        id=user_id,
        nickname=text(data, "username"),
        avatar_url=text(data, "avatar") or None,
        is_bot=data.get("bot") is True,
    )


def group(group_id: str) -> Group:
    return Group(id=group_id, name="")
