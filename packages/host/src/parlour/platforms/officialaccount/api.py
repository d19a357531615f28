"""Implements the platform API on official accounts. Methods that are not overridden are not supported by them."""

from typing import Any

from parlour.core.model.reply_allowance import ReplyHandle
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.port import HostLink, PlatformRefused, ReplyHandleRejected
from parlour.platforms._kit.errcode_client import ErrcodeClient, ErrcodeRefused
from parlour.platforms._kit.partial_sends import PartialSends
from parlour.platforms._kit.payloads import Payload
from parlour.platforms._kit.user_cache import UserCache
from parlour.platforms._kit.wechat_content import WechatPart, encode_parts
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.people import ChatType, User
from parlour_sdk.protocol.platform_api import MessageResult, NotSupportedError

from . import entities
from .encode import PROFILE, body_of
from .entities import DROP_REASON, PASSIVE_REASON, SERVICE, WINDOW_CODES, Mode
from .replies import PassiveReplies

ONLY_REPLIES = "this account only replies to messages; choose customer-service messages to let it send on its own"
ONE_MESSAGE = "WeChat shows one message as the reply to a message; the rest follows with the user's next message"


class OfficialAccountApi(PlatformApi):
    """Platform API of one official account."""

    def __init__(
        self, link: HostLink, mode: Mode, client: ErrcodeClient, users: UserCache, replies: PassiveReplies
    ) -> None:
        self._link = link
        self._mode = mode
        self._client = client
        self._users = users
        self._replies = replies
        self._sends = PartialSends(SERVICE)

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a chain as one or more customer-service messages. WeChat gives them no ids."""
        if target_type != "private":
            raise PlatformRefused("official accounts have no groups", permanent=True)
        if self._mode != "service":
            raise PlatformRefused(ONLY_REPLIES, permanent=True)
        parts = await encode_parts(chain, self._link.content, PROFILE)

        async def send(number: int, part: WechatPart) -> str:
            await self._client.post("message/custom/send", {"touser": target_id, **await self._body(part)})
            return ""

        await self._sends.send(idempotency_key, parts, send)
        return MessageResult()

    async def send_reply(
        self,
        reply: ReplyHandle,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a reply as the answer to a call of WeChat, or as a customer-service message.

        A call carries one message. Of a reply in several, each call takes the next one.
        """
        if self._mode != "service":
            return await self._reply_passively(reply.handle, target_id, chain, idempotency_key)
        try:
            return await self.send_message(target_type, target_id, chain, idempotency_key, thread_id)
        except ErrcodeRefused as refused:
            if refused.code in WINDOW_CODES:
                raise ReplyHandleRejected(refused.reason, permanent=True) from None
            raise

    async def _reply_passively(
        self, handle: str, open_id: str, chain: MessageChain, idempotency_key: str | None
    ) -> MessageResult:
        parts = await encode_parts(chain, self._link.content, PROFILE)
        is_used = False

        async def send(number: int, part: WechatPart) -> str:
            nonlocal is_used
            if is_used:
                raise ReplyHandleRejected(ONE_MESSAGE)
            if not await self._replies.offer(handle, open_id, await self._body(part)):
                raise ReplyHandleRejected(PASSIVE_REASON if self._mode == "passive" else DROP_REASON)
            is_used = True
            return ""

        await self._sends.send(idempotency_key, parts, send)
        return MessageResult()

    async def _body(self, part: WechatPart) -> Payload:
        media_id = await self._client.upload(part.file, part.kind) if part.file is not None else ""
        return body_of(part, media_id)

    async def get_user_info(self, user_id: str) -> User:
        return entities.user(user_id, await self._users.get(user_id))

    async def send_typing(self, chat_type: ChatType, chat_id: str, thread_id: str = "") -> None:
        """Shows that an answer is being written. Passive replies use it to know whether one is."""
        if self._mode == "service":
            await self._client.post("message/custom/typing", {"touser": chat_id, "command": "Typing"})
        else:
            self._replies.report_busy(chat_id)

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        match action:
            case "get_mode":
                return {"mode": self._mode}
            case "get_cached_response_status":
                open_id = str(params["user_id"])
                is_ready = await self._link.held_replies("private", open_id) > 0
                return {"pending": not is_ready and self._replies.is_unanswered(open_id), "ready": is_ready}
        raise NotSupportedError(f"the action {action}")
