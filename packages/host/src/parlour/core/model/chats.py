"""How a chat of a platform is called among all of its bot."""

from parlour_sdk.protocol.people import ChatType

SURFACE = "platform"
Chat = tuple[ChatType, str]


def chat_key(chat: Chat | None, account: str) -> str:
    name = f"{chat[0]}:{chat[1]}" if chat else ""
    return f"{account}/{name}" if account else name
