"""Builds the keys that identify a platform's chats within one bot."""

from parlour_sdk.protocol.people import ChatType

PLATFORM_SURFACE = "platform"
"""Name of the surface that shows replies on chat platforms."""
Chat = tuple[ChatType, str]


def chat_key(chat: Chat | None, account: str) -> str:
    name = f"{chat[0]}:{chat[1]}" if chat else ""
    return f"{account}/{name}" if account else name
