"""Runs Telegram's own actions.

Parameters were checked against the manifest; ids may be strings and are sent as numbers.
"""

from typing import Any

from parlour_sdk.protocol.platform_api import NotSupportedError

from .client import TelegramClient
from .send_calls import TelegramSender
from .values import native_chat_id, native_id

METHODS = {
    "pin_message": "pinChatMessage",
    "unpin_message": "unpinChatMessage",
    "unpin_all_messages": "unpinAllChatMessages",
    "get_chat_administrators": "getChatAdministrators",
    "set_chat_title": "setChatTitle",
    "set_chat_description": "setChatDescription",
    "get_chat_member_count": "getChatMemberCount",
    "send_chat_action": "sendChatAction",
    "create_chat_invite_link": "createChatInviteLink",
    "answer_callback_query": "answerCallbackQuery",
}
_NUMBERS = ("message_id", "message_thread_id")


async def run_action(client: TelegramClient, sender: TelegramSender, action: str, params: dict[str, Any]) -> Any:
    if action not in METHODS:
        raise NotSupportedError(f"the action {action}")
    told = {name: _told(sender, name, value) for name, value in params.items()}
    return await client.call(METHODS[action], told)


def _told(sender: TelegramSender, name: str, value: Any) -> Any:
    if name == "chat_id":
        return native_chat_id(name, sender.current_chat_id(str(value)))
    return native_id(name, str(value)) if name in _NUMBERS else value
