"""Names, chats, customers and error codes of WeCom customer service."""

from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.ids import compose_id, split_id
from parlour.platforms._kit.payloads import Payload, text
from parlour_sdk.protocol.people import User

NAME = "wecomcs"
SERVICE = "WeCom customer service"
WINDOW_REPLIES = 5
WINDOW_SECONDS = 48 * 3600
WINDOW_REASON = "WeChat accepts five replies within 48 hours of a customer's message; the customer must write again"
WINDOW_CODE = 95001
SESSION_CODE = 95018
MEANINGS = {
    95000: "there is no such customer service account",
    WINDOW_CODE: WINDOW_REASON,
    SESSION_CODE: "a member of the staff has taken over this conversation, or it was ended",
}


def chat_id(customer_id: str, account_id: str) -> str:
    """Returns the chat of a customer with a customer service account."""
    return compose_id(customer_id, account_id)


def chat_parts(chat: str) -> tuple[str, str]:
    """Returns the customer and the account of a chat. Raises PlatformRefused."""
    try:
        customer_id, account_id = split_id(chat, 2)
    except ValueError:
        reason = f"'{chat[:80]}' is no chat of WeCom customer service; customer and account are expected, as wm…|wk…"
        raise PlatformRefused(reason, permanent=True) from None
    return customer_id, account_id


def user(customer_id: str, profile: Payload) -> User:
    return User(id=customer_id, nickname=text(profile, "nickname"), avatar_url=text(profile, "avatar") or None)
