"""Implements the platform API on WeCom customer service. Methods that are not overridden are not supported by it."""

import os
from typing import Any

from parlour.core.model.reply_allowance import ReplyHandle
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.port import PlatformRefused, ReplyHandleRejected
from parlour.platforms._kit.errcode_client import ErrcodeClient, ErrcodeRefused
from parlour.platforms._kit.ids import short_key
from parlour.platforms._kit.outgoing_files import Fetch
from parlour.platforms._kit.partial_sends import PartialSends
from parlour.platforms._kit.payloads import Payload, text
from parlour.platforms._kit.user_cache import UserCache
from parlour.platforms._kit.wechat_content import WechatPart, encode_parts, named_message, with_leading_texts
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.people import ChatType, User
from parlour_sdk.protocol.platform_api import MessageResult, NotSupportedError

from . import entities
from .encode import PROFILE, file_body, location_body, menu_body, needs_text, text_body
from .entities import SERVICE, WINDOW_CODE, chat_parts

MESSAGE_ID_LENGTH = 32


class WecomCsApi(PlatformApi):
    """Platform API of the customer service of one company."""

    def __init__(self, client: ErrcodeClient, customers: UserCache, fetch: Fetch) -> None:
        self._client = client
        self._customers = customers
        self._fetch = fetch
        self._sends = PartialSends(SERVICE)

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a chain as one or more messages. The result names the one with buttons or the first; `raw` has all."""
        customer_id, account_id = chat_parts(target_id)
        if target_type != "private":
            raise PlatformRefused("customer service of WeCom has no groups", permanent=True)
        parts = await encode_parts(chain, self._fetch, PROFILE)
        key = idempotency_key or os.urandom(16).hex()

        async def send(number: int, part: WechatPart) -> str:
            message_id = short_key(f"{key}:{number}", MESSAGE_ID_LENGTH)
            body = await self._body(part, message_id)
            target = {"touser": customer_id, "open_kfid": account_id, "msgid": message_id}
            answer = await self._client.post("kf/send_msg", {**target, **body})
            return text(answer, "msgid") or message_id

        messages = with_leading_texts(parts, needs_text)
        sent = await self._sends.send(idempotency_key, messages, send)
        return MessageResult(message_id=named_message(messages, sent), raw={"message_ids": sent})

    async def send_reply(
        self,
        reply: ReplyHandle,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a reply within the window that the customer's last message opened."""
        try:
            return await self.send_message(target_type, target_id, chain, idempotency_key, thread_id)
        except ErrcodeRefused as refused:
            if refused.code == WINDOW_CODE:
                raise ReplyHandleRejected(refused.reason, permanent=True) from None
            raise

    async def _body(self, part: WechatPart, message_id: str) -> Payload:
        if part.buttons:
            return menu_body(part, message_id)
        if part.file is not None:
            return file_body(part, await self._client.upload(part.file, part.kind))
        return text_body(part.text) if part.is_text else location_body(part.own)

    async def welcome(self, code: str, content: str) -> None:
        """Greets a customer who opened the conversation. A code is valid once, for 20 seconds."""
        await self._client.post("kf/send_msg_on_event", {"code": code, **text_body(content)})

    async def get_user_info(self, user_id: str) -> User:
        return entities.user(user_id, await self._customers.get(user_id))

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        match action:
            case "check_access_token":
                return await self._client.tokens.check(lambda: self._client.get("get_api_domain_ip"), ErrcodeRefused)
            case "refresh_access_token":
                return await self._client.tokens.renew()
            case "get_customer_info":
                return await self._customers.get(str(params["external_userid"]))
        raise NotSupportedError(f"the action {action}")
