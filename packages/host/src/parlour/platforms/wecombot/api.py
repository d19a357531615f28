"""Implements the platform API on AI bots of WeCom. Methods that are not overridden are not supported by them."""

import os
from typing import Any, Protocol

from parlour.core.platforms.api import IsKnownMessage, PlatformApi, PlatformStream
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.ids import short_key
from parlour.platforms._kit.outgoing_files import Fetch, OutgoingFile
from parlour.platforms._kit.partial_sends import PartialSends
from parlour.platforms._kit.payloads import Payload
from parlour.platforms._kit.wechat_content import WechatPart, named_message, with_leading_texts
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.people import ChatType
from parlour_sdk.protocol.platform_api import MessageResult, NotSupportedError

from .client import WecomBotRefused, new_request_id
from .encode import card, card_body, encode, file_body, markdown_body, needs_text
from .entities import CARD_PREFIX, FEEDBACK_PREFIX, REPLY_EXPIRED_CODE, SERVICE, STREAM_EXPIRED_CODE
from .replies import Replies, Reply
from .streams import WecomBotStream

EXPIRED_CODES = (REPLY_EXPIRED_CODE, STREAM_EXPIRED_CODE)
ID_LENGTH = 40
PRESSED_LABEL = "✓"


class WecomBotCalls(Protocol):
    """The way to WeCom: the long connection, or the answers to its calls."""

    async def call(self, command: str, body: Payload, request_id: str = "") -> Payload: ...

    async def upload(self, file: OutgoingFile, kind: str) -> str: ...

    def seen(self, stream_id: str, sent: str) -> str:
        """Returns the part of an answer that users may have seen, of which this text was sent."""
        ...


class WecomBotApi(PlatformApi):
    """Platform API of one AI bot."""

    def __init__(
        self, client: WecomBotCalls, replies: Replies, fetch: Fetch, asks_for_feedback: bool, is_called: bool = False
    ) -> None:
        self._client = client
        self._replies = replies
        self._fetch = fetch
        self._asks_for_feedback = asks_for_feedback
        self._is_called = is_called
        self._sends = PartialSends(SERVICE)
        self._cards: BoundedMap[str, Payload] = BoundedMap(1000)
        """Cards by their task."""

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a chain as one or more messages. The first text answers the newest message of the chat, if it can."""
        parts = with_leading_texts(await encode(chain, self._fetch), needs_text)
        key = idempotency_key or os.urandom(16).hex()

        async def send(number: int, part: WechatPart) -> str:
            return await self._send_part(target_type, target_id, part, key, number)

        sent = await self._sends.send(idempotency_key, parts, send)
        return MessageResult(message_id=named_message(parts, sent), raw={"message_ids": sent})

    async def find_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str,
        is_known: IsKnownMessage,
        thread_id: str = "",
    ) -> MessageResult | None:
        """Sends the whole text of an answer again, which WeCom shows in its place; None for any other message."""
        reply = self._replies.finished_under(idempotency_key)
        if reply is None:
            return None
        await self._stream(reply, reply.shown, is_finished=True)
        return MessageResult(message_id=reply.stream_id)

    async def _send_part(self, chat_type: ChatType, chat_id: str, part: WechatPart, key: str, number: int) -> str:
        if part.is_text and not part.buttons:
            reply = self._replies.open_in(chat_id) if number == 0 else None
            return await self._send_text(chat_type, chat_id, part.text, key, reply)
        if part.buttons:
            task_id = short_key(f"{key}:{number}", ID_LENGTH)
            self._cards.set(task_id, card(part, task_id))
            await self._push(chat_type, chat_id, card_body(card(part, task_id)))
            return f"{CARD_PREFIX}{task_id}"
        assert part.file is not None
        body = file_body(part, await self._client.upload(part.file, part.kind))
        return await self._push(chat_type, chat_id, body)

    async def _send_text(self, chat_type: ChatType, chat_id: str, text: str, key: str, reply: Reply | None) -> str:
        """Completes the answer to the newest message; what it no longer can show is a message of its own."""
        if reply is None:
            return await self._push(chat_type, chat_id, markdown_body(text))
        already_shown = reply.shown
        reply.begin(key)
        self._replies.finished(key, reply)
        try:
            await self._stream(reply, text, is_finished=True)
        except WecomBotRefused as refused:
            if refused.code not in EXPIRED_CODES:
                raise
            reply.is_finished = True
            already_shown = self._client.seen(reply.stream_id, already_shown)
            rest = text.removeprefix(already_shown) if text.startswith(already_shown) else text
            return await self._push(chat_type, chat_id, markdown_body(rest)) if rest.strip() else reply.stream_id
        reply.is_finished = True
        return reply.stream_id

    async def _stream(self, reply: Reply, text: str, is_finished: bool = False) -> None:
        stream: Payload = {"id": reply.stream_id, "finish": is_finished, "content": text}
        if self._asks_for_feedback and not reply.shown:
            stream["feedback"] = {"id": f"{FEEDBACK_PREFIX}{reply.stream_id}"}
        reply.shown = text
        await self._client.call("aibot_respond_msg", {"msgtype": "stream", "stream": stream}, reply.request_id)

    async def _push(self, chat_type: ChatType, chat_id: str, body: Payload) -> str:
        """Sends a message of the bot's own. WeCom gives it no id, and so it gets that of its call."""
        request_id = new_request_id("aibot_send_msg")
        kind = 2 if chat_type == "group" else 1
        await self._client.call("aibot_send_msg", {"chatid": chat_id, "chat_type": kind, **body}, request_id)
        return request_id

    async def open_stream(
        self, target_type: ChatType, target_id: str, idempotency_key: str, thread_id: str = ""
    ) -> PlatformStream:
        reply = self._replies.open_in(target_id)
        if reply is None:
            raise PlatformRefused(
                f"{SERVICE} shows answers while they are written only to a new message", permanent=True
            )

        async def finish(chain: MessageChain) -> MessageResult:
            return await self.send_message(target_type, target_id, chain, idempotency_key)

        reply.begin(idempotency_key)
        return WecomBotStream(reply, self._stream, finish)

    # --- answers to events

    async def welcome(self, request_id: str, text: str) -> None:
        """Greets a user who opened the chat for the first time on this day, within five seconds."""
        body = {"msgtype": "text", "text": {"content": text}}
        await self._client.call("aibot_respond_welcome_msg", body, request_id)

    async def close_card(self, request_id: str, task_id: str) -> None:
        """Shows the buttons of a card as used, within five seconds."""
        if body := self.used_card(task_id):
            await self._client.call("aibot_respond_update_msg", body, request_id)

    def used_card(self, task_id: str) -> Payload:
        """Returns a card whose buttons were used; empty for a card of an earlier process."""
        shown = self._cards.pop(task_id)
        if shown is None:
            return {}
        return {"response_type": "update_template_card", "template_card": {**shown, "replace_text": PRESSED_LABEL}}

    # --- actions

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        match action:
            case "is_websocket_mode":
                return {"websocket": not self._is_called}
            case "get_stream_session_status":
                reply = self._replies.open_in(str(params["chat_id"]))
                if reply is None:
                    return {"active": False}
                return {"active": True, "stream_id": reply.stream_id or None, "finished": reply.is_finished}
            case "send_markdown" if not self._is_called:
                kind: ChatType = "group" if params.get("chat_type") == "group" else "private"
                body = markdown_body(str(params["content"]))
                return {"message_id": await self._push(kind, str(params["chat_id"]), body)}
        raise NotSupportedError(f"the action {action}")
