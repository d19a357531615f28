"""Implements the platform API on DingTalk. Methods that are not overridden are not supported by DingTalk."""

import base64
import os
from typing import Any

from parlour.core.model.reply_allowance import ReplyHandle
from parlour.core.platforms.api import IsKnownMessage, PlatformApi, PlatformStream
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.outgoing_files import Fetch
from parlour.platforms._kit.partial_sends import PartialSends
from parlour.platforms._kit.payloads import Payload, object_in, text
from parlour.platforms._kit.user_cache import UserCache
from parlour.platforms._kit.wechat_content import WechatPart
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.people import ChatType, User
from parlour_sdk.protocol.platform_api import MessageResult, NotSupportedError

from . import entities
from .cards import FINISHED, DingTalkCard, DingTalkCardStream
from .client import DingTalkClient, DingTalkRefused
from .encode import encode, file_message, markdown, robot_body, session_body, text_message
from .entities import CARD_PREFIX, SERVICE, UNKNOWN_STAFF


class DingTalkApi(PlatformApi):
    """Platform API of one robot."""

    def __init__(
        self,
        client: DingTalkClient,
        users: UserCache,
        fetch: Fetch,
        robot_code: str,
        template_id: str,
        is_markdown: bool,
    ) -> None:
        self._client = client
        self._users = users
        self._fetch = fetch
        self._robot_code = robot_code
        self._template_id = template_id
        self._is_markdown = is_markdown
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
        """Sends a chain as one or more messages. The result has the id of the first one; `raw` has all ids."""
        if target_type == "private" and target_id.startswith(UNKNOWN_STAFF):
            raise PlatformRefused(f"{SERVICE} lets a robot address only members of the company", permanent=True)
        parts = await encode(chain, self._fetch)

        async def send(number: int, part: WechatPart) -> str:
            if part.file is None:
                kind, params = text_message(part.text, self._is_markdown)
            else:
                kind, params = file_message(part, await self._client.upload(part.file, part.kind))
            return await self._send(target_type, target_id, kind, params)

        return await self._sends.send_all(idempotency_key, parts, send)

    async def send_reply(
        self,
        reply: ReplyHandle,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Answers a person outside the company through the address of their session."""
        parts = await encode(chain, self._fetch)

        async def send(number: int, part: WechatPart) -> str:
            await self._client.answer_session(reply.handle, session_body(part, self._is_markdown))
            return ""

        await self._sends.send(idempotency_key, parts, send)
        return MessageResult()

    async def _send(self, chat_type: ChatType, chat_id: str, kind: str, params: Payload) -> str:
        body = robot_body(self._robot_code, kind, params)
        if chat_type == "group":
            body["openConversationId"] = chat_id
            answer = await self._client.call("POST", "/v1.0/robot/groupMessages/send", body)
            return text(answer, "processQueryKey")
        answer = await self._client.call("POST", "/v1.0/robot/oToMessages/batchSend", {**body, "userIds": [chat_id]})
        if answer.get("flowControlledStaffIdList"):
            raise PlatformRefused(f"{SERVICE} limits the messages to this user", retry_after=5.0)
        if answer.get("invalidStaffIdList"):
            reason = f"{SERVICE} did not deliver it: the user is not within the visible range of the app"
            raise DingTalkRefused(reason, "invalidStaffId")
        return text(answer, "processQueryKey")

    def streams(self, target_type: ChatType) -> bool:
        return bool(self._template_id)

    async def open_stream(
        self, target_type: ChatType, target_id: str, idempotency_key: str, thread_id: str = ""
    ) -> PlatformStream:
        if not self._template_id or target_id.startswith(UNKNOWN_STAFF):
            raise NotSupportedError("open_stream")
        card = self._card(idempotency_key or os.urandom(8).hex())

        async def deliver(shown: DingTalkCard) -> None:
            await shown.deliver(target_type, target_id)

        async def finish(chain: MessageChain) -> MessageResult:
            return await self._complete(card, target_type, target_id, chain, idempotency_key)

        return DingTalkCardStream(card, deliver, finish)

    async def find_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str,
        is_known: IsKnownMessage,
        thread_id: str = "",
    ) -> MessageResult | None:
        """Completes the card that an earlier process showed under this key; None for any other message."""
        parts = await encode(chain, self._fetch)
        if not self._template_id or not parts or not parts[0].is_text:
            return None
        card = self._card(idempotency_key)
        try:
            await card.write(markdown(parts[0].text))
        except DingTalkRefused:
            return None  # there is no such card
        return await self._complete(card, target_type, target_id, chain, idempotency_key)

    def _card(self, key: str) -> DingTalkCard:
        return DingTalkCard(self._client, self._template_id, self._robot_code, key)

    async def _complete(
        self, card: DingTalkCard, chat_type: ChatType, chat_id: str, chain: MessageChain, key: str
    ) -> MessageResult:
        """Completes a card with the first text; what it can't show is sent in further messages."""
        first, *rest = await encode(chain, self._fetch)
        if not first.is_text:
            return await self.send_message(chat_type, chat_id, chain, f"{key}:final")
        await card.deliver(chat_type, chat_id)
        await card.write(markdown(first.text), is_final=True)
        await card.close(FINISHED)
        if rest:
            place = next(place for place, each in enumerate(chain) if each.type not in ("Plain", "At", "AtAll", "Face"))
            await self.send_message(chat_type, chat_id, chain[place:], f"{key}:rest")
        return MessageResult(message_id=card.message_id)

    async def delete_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> None:
        """Recalls a message of the last 24 hours."""
        if message_id.startswith(CARD_PREFIX) or not message_id:
            raise PlatformRefused(f"{SERVICE} recalls no cards", permanent=True)
        body: Payload = {"robotCode": self._robot_code, "processQueryKeys": [message_id]}
        path = "/v1.0/robot/otoMessages/batchRecall"
        if chat_type == "group":
            path, body = "/v1.0/robot/groupMessages/recall", {**body, "openConversationId": chat_id}
        answer = await self._client.call("POST", path, body)
        failed = object_in(answer, "failedResult").get(message_id)
        if failed:
            raise PlatformRefused(f"{SERVICE} did not recall the message: {failed}"[:300], permanent=True)

    # --- users and actions

    async def get_user_info(self, user_id: str) -> User:
        profile = await self._users.get(user_id)
        return entities.user(user_id, text(profile, "name"), text(profile, "avatar"))

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        match action:
            case "check_access_token":
                return await self._client.tokens.check(self._client.tokens.get, DingTalkRefused)
            case "refresh_access_token":
                return await self._client.tokens.renew()
            case "get_file_url":
                return {"url": await self._client.file_url(str(params["download_code"]), self._robot_code)}
            case "get_audio_base64" | "download_image_base64":
                file = await self._client.download(str(params["download_code"]), self._robot_code)
                return {"base64": base64.b64encode(file.body).decode()}
        raise NotSupportedError(f"the action {action}")
