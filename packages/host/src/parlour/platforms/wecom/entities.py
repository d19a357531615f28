"""Names, chats and users of WeCom applications."""

from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.ids import compose_id, split_id
from parlour.platforms._kit.payloads import Payload, text
from parlour_sdk.protocol.people import User

NAME = "wecom"
SERVICE = "WeCom"
CARD_PREFIX = "card-"
"""Beginning of the message ids of cards with buttons, which are the ids of their tasks."""


def chat_id(user_id: str, agent_id: str) -> str:
    """Returns the chat of a member with an application: WeCom sends under both ids."""
    return compose_id(user_id, agent_id)


def chat_parts(chat: str) -> tuple[str, int]:
    """Returns the member and the application of a chat. Raises PlatformRefused."""
    try:
        user_id, agent_id = split_id(chat, 2)
        return user_id, int(agent_id)
    except ValueError:
        reason = f"'{chat[:80]}' is no chat of WeCom; user and agent id are expected, as zhangsan|1000002"
        raise PlatformRefused(reason, permanent=True) from None


def user(user_id: str, profile: Payload) -> User:
    return User(
        id=user_id,
        nickname=text(profile, "name"),
        username=text(profile, "alias") or None,
        avatar_url=text(profile, "avatar") or None,
    )
