"""Sends, answers, edits, deletes and reads messages of a bot."""

from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.people import ChatType
from parlour_sdk.protocol.platform_api import (
    DeleteMessage,
    EditMessage,
    ForwardMessage,
    GetMessage,
    MessageResult,
    PlatformMessage,
    React,
    ReplyMessage,
    SendMessage,
    SendTyping,
)
from parlour_sdk.protocol.platform_events import PlatformEvent

from .calls import Namespace
from .chains import Chain, as_chain


class MessagesAPI(Namespace):
    async def send(
        self, bot_id: str, target_type: ChatType, target_id: str, chain: Chain, idempotency_key: str | None = None
    ) -> MessageResult:
        return await self._calls.call(
            "send_message",
            SendMessage,
            MessageResult,
            bot_id=bot_id,
            target_type=target_type,
            target_id=target_id,
            chain=as_chain(chain),
            idempotency_key=idempotency_key,
        )

    async def reply(
        self, event: PlatformEvent, chain: Chain, quote: bool = False, idempotency_key: str | None = None
    ) -> MessageResult:
        """Sends a message to the chat that the event came from, by the bot that received it."""
        return await self._calls.call(
            "reply_message",
            ReplyMessage,
            MessageResult,
            bot_id=event.bot_id,
            event_id=event.event_id,
            chain=as_chain(chain),
            quote=quote,
            idempotency_key=idempotency_key,
        )

    async def edit(self, bot_id: str, chat_type: ChatType, chat_id: str, message_id: str, chain: Chain) -> None:
        await self._calls.call(
            "edit_message",
            EditMessage,
            Done,
            bot_id=bot_id,
            chat_type=chat_type,
            chat_id=chat_id,
            message_id=message_id,
            chain=as_chain(chain),
        )

    async def delete(self, bot_id: str, chat_type: ChatType, chat_id: str, message_id: str) -> None:
        await self._calls.call(
            "delete_message",
            DeleteMessage,
            Done,
            bot_id=bot_id,
            chat_type=chat_type,
            chat_id=chat_id,
            message_id=message_id,
        )

    async def forward(
        self,
        bot_id: str,
        from_chat_type: ChatType,
        from_chat_id: str,
        message_id: str,
        to_chat_type: ChatType,
        to_chat_id: str,
    ) -> MessageResult:
        return await self._calls.call(
            "forward_message",
            ForwardMessage,
            MessageResult,
            bot_id=bot_id,
            from_chat_type=from_chat_type,
            from_chat_id=from_chat_id,
            message_id=message_id,
            to_chat_type=to_chat_type,
            to_chat_id=to_chat_id,
        )

    async def get(self, bot_id: str, chat_type: ChatType, chat_id: str, message_id: str) -> PlatformMessage:
        return await self._calls.call(
            "get_message",
            GetMessage,
            PlatformMessage,
            bot_id=bot_id,
            chat_type=chat_type,
            chat_id=chat_id,
            message_id=message_id,
        )

    async def react(
        self, bot_id: str, chat_type: ChatType, chat_id: str, message_id: str, reaction: str, add: bool = True
    ) -> None:
        await self._calls.call(
            "react",
            React,
            Done,
            bot_id=bot_id,
            chat_type=chat_type,
            chat_id=chat_id,
            message_id=message_id,
            reaction=reaction,
            add=add,
        )

    async def typing(self, bot_id: str, chat_type: ChatType, chat_id: str) -> None:
        """Shows the typing indicator."""
        await self._calls.call("send_typing", SendTyping, Done, bot_id=bot_id, chat_type=chat_type, chat_id=chat_id)
