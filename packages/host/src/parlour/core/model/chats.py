"""Builds the keys that identify a platform's chats within one bot."""

import re

from parlour_sdk.protocol.people import ChatType

PLATFORM_SURFACE = "platform"
"""Name of the surface that shows replies on chat platforms."""
Chat = tuple[ChatType, str]


_CHAT = re.compile(r"(?:^|/)(?P<type>group|private):(?P<id>.+)")
"""Matches the key of a chat; ids may contain slashes."""


def split_chat_key(key: str) -> Chat | None:
    """Returns the chat that a key names, without the account; None if it names no chat."""
    match = _CHAT.search(key)
    return (("group" if match["type"] == "group" else "private"), match["id"]) if match is not None else None


def chat_key(chat: Chat | None, account: str) -> str:
    name = f"{chat[0]}:{chat[1]}" if chat else ""
    return f"{account}/{name}" if account else name
