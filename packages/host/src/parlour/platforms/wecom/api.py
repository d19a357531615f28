"""Implements the platform API on WeCom applications. Methods that are not overridden are not supported by WeCom."""

import os
from typing import Any

from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.bounded_map import BoundedMap
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
from .encode import PROFILE, card_body, file_body, link_body, needs_text, text_body
from .entities import CARD_PREFIX, SERVICE, chat_parts

TASK_ID_LENGTH = 40
PRESSED_LABEL = "✓"


class WecomApi(PlatformApi):
    """Platform API of one WeCom application."""

    def __init__(self, client: ErrcodeClient, users: UserCache, fetch: Fetch) -> None:
        self._client = client
        self._users = users
        self._fetch = fetch
        self._sends = PartialSends(SERVICE)
        self._cards: BoundedMap[str, str] = BoundedMap()
        """WeCom's message ids of cards by their task."""

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a chain as one or more messages. The result names the one with buttons or the first; `raw` has all."""
        user_id, agent_id = chat_parts(target_id)
        if target_type != "private":
            raise PlatformRefused("an application of WeCom has no groups", permanent=True)
        parts = await encode_parts(chain, self._fetch, PROFILE)
        key = idempotency_key or os.urandom(16).hex()

        async def send(number: int, part: WechatPart) -> str:
            return await self._send_part(user_id, agent_id, part, f"{key}:{number}")

        messages = with_leading_texts(parts, needs_text)
        sent = await self._sends.send(idempotency_key, messages, send)
        return MessageResult(message_id=named_message(messages, sent), raw={"message_ids": sent})

    async def _send_part(self, user_id: str, agent_id: int, part: WechatPart, key: str) -> str:
        if part.buttons:
            task_id = short_key(key, TASK_ID_LENGTH)
            self._cards.set(task_id, await self._send(user_id, agent_id, card_body(part, task_id)))
            return f"{CARD_PREFIX}{task_id}"
        if part.file is not None:
            body = file_body(part, await self._client.upload(part.file, part.kind))
            return await self._send(user_id, agent_id, body)
        body = text_body(part.text) if part.is_text else link_body(part.own)
        return await self._send(user_id, agent_id, body)

    async def _send(self, receiver: str, agent_id: int, body: Payload) -> str:
        answer = await self._client.post("message/send", {"touser": receiver, "agentid": agent_id, **body})
        if text(answer, "invaliduser"):
            reason = f"{SERVICE} did not deliver it: the member is not within the visible range of the application"
            raise ErrcodeRefused(reason, 82001)
        return text(answer, "msgid")

    async def close_card(self, response_code: str, user_id: str, agent_id: int) -> None:
        """Shows the buttons of a card as used. A response code is valid once."""
        body = {"userids": [user_id], "agentid": agent_id, "response_code": response_code}
        await self._client.post("message/update_template_card", {**body, "button": {"replace_name": PRESSED_LABEL}})

    async def delete_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> None:
        """Recalls a message of the last 24 hours."""
        chat_parts(chat_id)
        native_id = message_id
        if message_id.startswith(CARD_PREFIX):
            native_id = self._cards.get(message_id.removeprefix(CARD_PREFIX)) or ""
        if not native_id:
            raise PlatformRefused("the card was sent before the last restart and can't be recalled", permanent=True)
        await self._client.post("message/recall", {"msgid": native_id})

    async def get_user_info(self, user_id: str) -> User:
        return entities.user(user_id, await self._users.get(user_id))

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        match action:
            case "check_access_token":
                return await self._client.tokens.check(lambda: self._client.get("get_api_domain_ip"), ErrcodeRefused)
            case "refresh_access_token":
                return await self._client.tokens.renew()
            case "get_user_info":
                return await self._users.get(str(params["user_id"]))
            case "send_to_all":
                message_id = await self._send("@all", int(params["agent_id"]), text_body(str(params["text"])))
                return {"message_id": message_id}
        raise NotSupportedError(f"the action {action}")
