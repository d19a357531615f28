"""Implements the platform API on QQ. Methods that are not overridden are not supported by QQ's official bots."""

import os
import zlib
from base64 import b64encode
from time import time
from typing import Any
from urllib.parse import quote

from parlour.core.model.reply_allowance import ReplyHandle
from parlour.core.platforms.api import PlatformApi, PlatformStream
from parlour.core.platforms.port import PlatformRefused, ReplyHandleRejected
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.http_client import Upload
from parlour.platforms._kit.outgoing_files import Fetch, OutgoingFile
from parlour.platforms._kit.partial_sends import PartialSends
from parlour.platforms._kit.payloads import Payload, text
from parlour.platforms._kit.wechat_content import WechatPart, named_message
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.people import ChatType
from parlour_sdk.protocol.platform_api import MessageResult, NotSupportedError

from .client import ADDRESS_CODE, DUPLICATE_CODE, EXPIRED_CODES, QQClient, QQRefused
from .encode import FILE_TYPES, encode, markdown_body, media_body, text_body, without_addresses
from .entities import MESSAGE_HANDLE, PRIVATE_SECONDS, SERVICE, chat_path, is_guild
from .stream import DONE, OpenStream, OpenStreams, QQStream

PARTS_PER_REPLY = 20
"""Numbers that a reply may use for its messages."""
FIRST_STREAM_NUMBER, STREAM_NUMBERS = 1000, 60_000
"""Numbers of streams, apart from those of other replies."""


class QQApi(PlatformApi):
    """Platform API of one bot."""

    def __init__(
        self,
        client: QQClient,
        fetch: Fetch,
        mode: str,
        uses_markdown: bool,
        newest: BoundedMap[str, Any],
        streams: OpenStreams,
    ) -> None:
        self._client = client
        self._fetch = fetch
        self._mode = mode
        self._uses_markdown = uses_markdown
        self._newest: BoundedMap[str, tuple[str, float]] = newest
        """The newest message of each private chat, with the time at which it came."""
        self._streams = streams
        self._sends = PartialSends(SERVICE)

    # --- messages

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a chain as messages of the bot's own, of which QQ accepts few."""
        return await self._send(target_type, target_id, chain, idempotency_key, {}, 0)

    async def send_reply(
        self,
        reply: ReplyHandle,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a counted reply. Under the same number, QQ shows it once."""
        name, _, native_id = reply.handle.partition(":")
        try:
            return await self._send(target_type, target_id, chain, idempotency_key, {name: native_id}, reply.number)
        except QQRefused as refused:
            if refused.code in EXPIRED_CODES:
                raise ReplyHandleRejected(refused.reason, permanent=True) from None
            raise

    async def _send(
        self, chat_type: ChatType, chat_id: str, chain: MessageChain, key: str | None, reply: Payload, number: int
    ) -> MessageResult:
        if key and (shown := self._streams.get(key)) is not None:
            try:
                return await self._stream(chat_type, chat_id, shown, key).finish(chain)
            except QQRefused as refused:
                if not refused.permanent:
                    raise
                self._streams.closed(key)
        parts = await encode(chain, chat_id, self._fetch)
        path = chat_path(chat_type, chat_id)

        async def send(place: int, part: WechatPart) -> str:
            own = {**reply, "msg_seq": number * PARTS_PER_REPLY + place + 1} if reply else {}
            return await self._send_part(path, chat_id, part, own)

        sent = await self._sends.send(key, parts, send)
        return MessageResult(message_id=named_message(parts, sent) or None, raw={"message_ids": sent})

    async def _send_part(self, path: str, chat_id: str, part: WechatPart, reply: Payload) -> str:
        if part.file is not None:
            if is_guild(chat_id):
                return await self._send_picture(path, part, part.file, reply)
            return await self._post(
                path, {**media_body(part.text, await self._upload(path, part.file, part.kind)), **reply}
            )
        if self._uses_markdown:
            try:
                return await self._post(path, {**markdown_body(part.text, part.buttons), **reply})
            except QQRefused as refused:
                if refused.code in EXPIRED_CODES:
                    raise
        return await self._post_text(path, part.text, reply)

    async def _post_text(self, path: str, content: str, reply: Payload) -> str:
        """Sends a text; if QQ refuses an address in it, with full stops of another kind."""
        try:
            return await self._post(path, {**text_body(content), **reply})
        except QQRefused as refused:
            if refused.code != ADDRESS_CODE:
                raise
        return await self._post(path, {**text_body(without_addresses(content)), **reply})

    async def _post(self, path: str, body: Payload, upload: Upload | None = None) -> str:
        """Sends a message and returns its id; empty for one that QQ has shown before under the same number."""
        try:
            return text(await self._client.call("POST", f"{path}/messages", body, upload), "id")
        except QQRefused as refused:
            if refused.code == DUPLICATE_CODE and "msg_seq" in body:
                return ""
            raise

    async def _send_picture(self, path: str, part: WechatPart, file: OutgoingFile, reply: Payload) -> str:
        if part.kind != "image":
            raise PlatformRefused(f"channels of {SERVICE} take no files but pictures", permanent=True)
        fields = {name: str(value) for name, value in reply.items()}
        body = {**fields, **({"content": part.text} if part.text.strip() else {})}
        return await self._post(path, body, Upload("file_image", file.data, file.name, file.mime_type))

    async def _upload(self, path: str, file: OutgoingFile, kind: str) -> str:
        body = {
            "file_type": FILE_TYPES[kind], "file_data": b64encode(file.data).decode(), "file_name": file.name,
            "srv_send_msg": False,
        }  # fmt: skip
        return text(await self._client.call("POST", f"{path}/files", body), "file_info")

    # --- streams

    def streams(self, target_type: ChatType) -> bool:
        return target_type == "private"

    async def open_stream(
        self, target_type: ChatType, target_id: str, idempotency_key: str, thread_id: str = ""
    ) -> PlatformStream:
        found = self._newest.get(target_id)
        if target_type != "private" or is_guild(target_id) or found is None or time() - found[1] > PRIVATE_SECONDS:
            raise PlatformRefused(
                f"{SERVICE} shows answers while they are written only to a new message", permanent=True
            )
        key = idempotency_key or os.urandom(8).hex()
        number = FIRST_STREAM_NUMBER + zlib.crc32(key.encode()) % STREAM_NUMBERS
        return self._stream(target_type, target_id, OpenStream("", found[0], number, time()), key)

    def _stream(self, chat_type: ChatType, chat_id: str, answered: OpenStream, key: str) -> QQStream:
        path = chat_path(chat_type, chat_id)

        async def complete(stream: QQStream, chain: MessageChain) -> MessageResult:
            parts = await encode(chain, chat_id, self._fetch)
            sent = []
            if stream.stream_id:
                sent = [stream.stream_id]
                first = parts[0].text if parts else ""
                await stream.write(first or " ", DONE)
                parts = [WechatPart(file=each.file, kind=each.kind) for each in parts[:1] if each.file] + parts[1:]
            for place, part in enumerate(parts, 1):
                reply = {MESSAGE_HANDLE: answered.message_id, "msg_seq": answered.number + place}
                sent.append(await self._send_part(path, chat_id, part, reply))
            return MessageResult(message_id=sent[0] or None, raw={"message_ids": sent})

        return QQStream(self._client, path, answered, complete, self._streams, key)

    async def delete_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> None:
        """Recalls a message of the last two minutes."""
        path = f"{chat_path(chat_type, chat_id)}/messages/{quote(message_id, safe='')}"
        await self._client.call("DELETE", f"{path}?hidetip=true" if is_guild(chat_id) else path)

    async def acknowledge(self, interaction_id: str) -> None:
        """Ends the waiting of a user who pressed a button."""
        await self._client.call("PUT", f"/interactions/{quote(interaction_id, safe='')}", {"code": 0})

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        match action:
            case "check_access_token":
                return await self._client.tokens.check(lambda: self._client.call("GET", "/users/@me"), QQRefused)
            case "refresh_access_token":
                return await self._client.tokens.renew()
            case "get_gateway_url":
                return {"url": text(await self._client.call("GET", "/gateway"), "url")}
            case "get_mode":
                return {"mode": self._mode}
        raise NotSupportedError(f"the action {action}")
