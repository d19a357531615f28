"""Implements the platform API on the iLink gateway. Methods that are not overridden are not supported by it."""

import os

from parlour.core.model.reply_allowance import ReplyHandle
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.port import PlatformRefused, ReplyHandleRejected
from parlour.platforms._kit.ids import short_key
from parlour.platforms._kit.outgoing_files import Fetch
from parlour.platforms._kit.partial_sends import PartialSends
from parlour.platforms._kit.payloads import Payload, identifier
from parlour.platforms._kit.wechat_content import MIB, FileRule, SendProfile, WechatPart, encode_parts
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.people import ChatType
from parlour_sdk.protocol.platform_api import MessageResult

from .client import WechatClient, WindowClosed
from .entities import (
    BOT_MESSAGE,
    FILE,
    FINISHED,
    IMAGE,
    NAME,
    SERVICE,
    TEXT,
    VIDEO,
    WINDOW_REASON,
)
from .media import WechatMedia
from .typing_tickets import FindHandle, TypingTickets

PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp")
FILES = {
    "Image": FileRule("image", PICTURES, 20 * MIB),
    "Video": FileRule("video", ("video/mp4",)),
    "File": FileRule("file"),
}
PROFILE = SendProfile(SERVICE, NAME, FILES)
ITEMS = {"image": IMAGE, "video": VIDEO, "file": FILE}
CLIENT_ID_LENGTH = 24


class WechatApi(PlatformApi):
    """Platform API of one account."""

    def __init__(
        self, client: WechatClient, media: WechatMedia, typing: TypingTickets, fetch: Fetch, find_handle: FindHandle
    ) -> None:
        self._client = client
        self._media = media
        self._typing = typing
        self._fetch = fetch
        self._find_handle = find_handle
        self._sends = PartialSends(SERVICE)

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a message under the context token of the user's newest message; there is no other way."""
        handle = await self._find_handle(target_id)
        if not handle:
            raise PlatformRefused(WINDOW_REASON, permanent=True)
        return await self._send(handle, target_type, target_id, chain, idempotency_key)

    async def send_reply(
        self,
        reply: ReplyHandle,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        try:
            return await self._send(reply.handle, target_type, target_id, chain, idempotency_key)
        except WindowClosed as closed:
            raise ReplyHandleRejected(closed.reason, permanent=True) from None

    async def _send(
        self, handle: str, target_type: ChatType, user_id: str, chain: MessageChain, idempotency_key: str | None
    ) -> MessageResult:
        """Sends a chain as one or more messages. The result has the id of the first one; `raw` has all ids."""
        if target_type != "private":
            raise PlatformRefused("bots of WeChat have no groups", permanent=True)
        parts = await encode_parts(chain, self._fetch, PROFILE)
        key = idempotency_key or os.urandom(16).hex()

        async def send(number: int, part: WechatPart) -> str:
            client_id = f"parlour-{short_key(f'{key}:{number}', CLIENT_ID_LENGTH)}"
            message = {
                "from_user_id": "", "to_user_id": user_id, "client_id": client_id, "message_type": BOT_MESSAGE,
                "message_state": FINISHED, "item_list": [await self._item(part, user_id)], "context_token": handle,
            }  # fmt: skip
            answer = await self._client.call("sendmessage", {"msg": message})
            try:
                return identifier(answer.get("message_id"))
            except ValueError:
                return client_id  # older servers return no id

        return await self._sends.send_all(idempotency_key, parts, send)

    async def _item(self, part: WechatPart, user_id: str) -> Payload:
        if part.file is None:
            return {"type": TEXT, "text_item": {"text": part.text}}
        return await self._media.upload(ITEMS[part.kind], part.file, user_id)

    async def send_typing(self, chat_type: ChatType, chat_id: str, thread_id: str = "") -> None:
        await self._typing.show(chat_id)
