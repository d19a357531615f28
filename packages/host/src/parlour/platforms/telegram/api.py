"""Implements the platform API on Telegram. Methods that are not overridden are not supported by the Bot API."""

import time
from collections.abc import Awaitable, Callable
from typing import Any

from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.port import FileContent, PlatformRefused
from parlour_sdk.protocol.chain import File, Image, MessageChain, Video, Voice
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, User
from parlour_sdk.protocol.platform_api import MessageResult, NotSupportedError

from . import entities
from .client import NOT_MODIFIED, TelegramClient
from .encode import TelegramCall, encode, text_and_keyboard
from .entities import BotAccount, Payload, native_chat_id, native_id, number
from .sender import DraftSupport, TelegramDraftStream, TelegramSender

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
_RIGHTS = (
    "can_send_messages",
    "can_send_audios",
    "can_send_documents",
    "can_send_photos",
    "can_send_videos",
    "can_send_video_notes",
    "can_send_voice_notes",
    "can_send_polls",
    "can_send_other_messages",
    "can_add_web_page_previews",
)
NO_TEXT = "there is no text in the message to edit"


async def run_action(client: TelegramClient, sender: TelegramSender, action: str, params: dict[str, Any]) -> Any:
    if action not in METHODS:
        raise NotSupportedError(f"the action {action}")
    native_params = {name: _native_value(sender, name, value) for name, value in params.items()}
    return await client.call(METHODS[action], native_params)


def _native_value(sender: TelegramSender, name: str, value: Any) -> Any:
    if name == "chat_id":
        return native_chat_id(name, sender.current_chat_id(str(value)))
    return native_id(name, str(value)) if name in _NUMBERS else value


class TelegramApi(PlatformApi):
    """Platform API of one Telegram bot."""

    def __init__(
        self,
        client: TelegramClient,
        sender: TelegramSender,
        drafts: DraftSupport,
        get_account: Callable[[], BotAccount],
        fetch: Callable[[str], Awaitable[FileContent]],
        markdown: bool,
    ) -> None:
        self._client = client
        self._sender = sender
        self._drafts = drafts
        self._get_account = get_account
        self._fetch = fetch
        self._markdown = markdown

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a chain as one or more messages. The result has the id of the first one; `raw` has all ids."""
        calls = await encode(chain, self._fetch, self._markdown)
        if not calls:
            raise PlatformRefused("there is nothing in this message that Telegram could send", permanent=True)
        message_ids = await self._sender.calls(target_id, calls, idempotency_key, **_topic(thread_id))
        return MessageResult(message_id=message_ids[0] or None, raw={"message_ids": message_ids})

    async def edit_message(
        self, chat_type: ChatType, chat_id: str, message_id: str, chain: MessageChain
    ) -> MessageResult:
        if any(isinstance(each, Image | Voice | Video | File) for each in chain):
            raise PlatformRefused("the files of a message can't be changed, only its words", permanent=True)
        text, keyboard = text_and_keyboard(chain, self._markdown)
        fields = {"message_id": native_id("message_id", message_id), "reply_markup": keyboard}
        try:
            await self._edit(chat_id, TelegramCall("editMessageText", {**fields, **text.parameters()}))
        except PlatformRefused as error:
            if NO_TEXT not in error.reason:
                raise
            await self._edit(chat_id, TelegramCall("editMessageCaption", {**fields, **text.parameters("caption")}))
        return MessageResult(message_id=message_id)

    async def _edit(self, chat_id: str, call: TelegramCall) -> None:
        try:
            await self._sender.call(chat_id, call)
        except PlatformRefused as error:
            if NOT_MODIFIED not in error.reason:  # the message already has this content
                raise

    async def delete_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> None:
        await self._call("deleteMessage", chat_id, message_id=native_id("message_id", message_id))

    async def forward_message(
        self, from_chat_type: ChatType, from_chat_id: str, message_id: str, to_chat_type: ChatType, to_chat_id: str
    ) -> MessageResult:
        source = native_chat_id("from_chat_id", self._sender.current_chat_id(from_chat_id))
        params = {"from_chat_id": source, "message_id": native_id("message_id", message_id)}
        [sent_id] = await self._sender.calls(to_chat_id, [TelegramCall("forwardMessage", params)], None)
        return MessageResult(message_id=sent_id or None)

    async def react(self, chat_type: ChatType, chat_id: str, message_id: str, reaction: str, add: bool = True) -> None:
        """Sets or removes the bot's reaction. A bot has one reaction for each message, so another one replaces it."""
        reactions = [_reaction(reaction)] if add else []
        await self._call(
            "setMessageReaction", chat_id, message_id=native_id("message_id", message_id), reaction=reactions
        )

    async def get_group_info(self, group_id: str) -> Group:
        chat = entities.require_object(await self._call("getChat", group_id))
        count = await self._call("getChatMemberCount", group_id)
        return entities.group({**chat, "member_count": count})

    async def get_group_member_info(self, group_id: str, user_id: str) -> GroupMember:
        member = entities.require_object(await self._member("getChatMember", group_id, user_id))
        if member.get("status") in ("left", "kicked"):
            raise PlatformRefused("this person is not in the group", permanent=True)
        return entities.member(member, group_id)

    async def set_group_name(self, group_id: str, name: str) -> None:
        await self._call("setChatTitle", group_id, title=name)

    async def mute_member(self, group_id: str, user_id: str, duration: int = 0) -> None:
        """Mutes a member. Telegram treats less than 30 seconds or more than 366 days as permanent."""
        muted_until = int(time.time()) + max(duration, 31) if duration else None
        await self._restrict(group_id, user_id, allowed=False, until_date=muted_until)

    async def unmute_member(self, group_id: str, user_id: str) -> None:
        await self._restrict(group_id, user_id, allowed=True)

    async def kick_member(self, group_id: str, user_id: str) -> None:
        """Removes a member, who can join again."""
        await self._member("banChatMember", group_id, user_id)
        await self._member("unbanChatMember", group_id, user_id, only_if_banned=True)

    async def leave_group(self, group_id: str) -> None:
        await self._call("leaveChat", group_id)

    async def is_muted(self, group_id: str) -> bool:
        return entities.is_muted(
            entities.require_object(await self._member("getChatMember", group_id, self._get_account().id))
        )

    async def get_user_info(self, user_id: str) -> User:
        return entities.user(entities.require_object(await self._call("getChat", user_id)))

    async def send_typing(self, chat_type: ChatType, chat_id: str, thread_id: str = "") -> None:
        await self._call("sendChatAction", chat_id, action="typing", **_topic(thread_id))

    def streams(self, target_type: ChatType) -> bool:
        """Returns whether the chat supports drafts, which exist only in private chats."""
        return target_type == "private" and self._drafts.available

    async def open_stream(
        self, target_type: ChatType, target_id: str, idempotency_key: str, thread_id: str = ""
    ) -> TelegramDraftStream:
        async def finish(chain: MessageChain) -> MessageResult:
            return await self.send_message(target_type, target_id, chain, idempotency_key, thread_id)

        target = {"chat_id": native_id("chat_id", target_id), **_topic(thread_id)}
        return TelegramDraftStream(self._drafts, target, idempotency_key, self._markdown, finish)

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        return await run_action(self._client, self._sender, action, params)

    async def _restrict(self, group_id: str, user_id: str, allowed: bool, **fields: Any) -> None:
        rights = dict.fromkeys(_RIGHTS, allowed)
        await self._member(
            "restrictChatMember", group_id, user_id, permissions=rights, use_independent_chat_permissions=True, **fields
        )

    async def _member(self, method: str, group_id: str, user_id: str, **fields: Any) -> Any:
        return await self._call(method, group_id, user_id=native_id("user_id", user_id), **fields)

    async def _call(self, method: str, chat_id: str, **params: Any) -> Any:
        """Calls a method for a chat. It sends no message, so it is not rate-limited."""
        return await self._client.call(
            method, {"chat_id": native_chat_id("chat_id", self._sender.current_chat_id(chat_id)), **params}
        )


def _topic(thread_id: str) -> Payload:
    return {"message_thread_id": native_id("thread_id", thread_id)} if thread_id else {}


def _reaction(reaction: str) -> Payload:
    """Builds a reaction; a custom emoji is given by its number."""
    if reaction.isdecimal() and number(int(reaction)) is not None and len(reaction) > 5:
        return {"type": "custom_emoji", "custom_emoji_id": reaction}
    return {"type": "emoji", "emoji": reaction}
