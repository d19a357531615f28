"""Implements the platform API on LINE. Methods that are not overridden are not supported by LINE."""

from secrets import token_hex
from typing import Any
from urllib.parse import quote

from parlour.core.model.reply_allowance import ReplyHandle
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.buttons import BUTTONS_COMPONENT
from parlour.platforms._kit.ids import uuid_key
from parlour.platforms._kit.partial_sends import PartialSends
from parlour.platforms._kit.payloads import Payload, number, text
from parlour_sdk.protocol.chain import MessageChain, Platform
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, User
from parlour_sdk.protocol.platform_api import MessageResult, NotSupportedError

from . import entities
from .client import LineClient
from .encode import LineEncoder
from .entities import BUTTONS_PREFIX, chat_kind
from .profiles import LineProfiles

MESSAGES_PER_CALL = 5
TYPING_SECONDS = 20


class LineApi(PlatformApi):
    """Platform API of one official account."""

    def __init__(
        self, client: LineClient, profiles: LineProfiles, encoder: LineEncoder, quote_tokens: BoundedMap[str, str]
    ) -> None:
        self._client = client
        self._profiles = profiles
        self._encoder = encoder
        self._quote_tokens = quote_tokens
        self._sends = PartialSends("LINE")

    # --- messages

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a chain as messages of the account's own, which count for its quota."""
        return await self._send(target_type, target_id, chain, idempotency_key)

    async def send_reply(
        self,
        reply: ReplyHandle,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a chain under a reply token, which is free. What exceeds five messages is pushed."""
        return await self._send(target_type, target_id, chain, idempotency_key, reply.handle)

    async def _send(
        self, target_type: ChatType, target_id: str, chain: MessageChain, key: str | None, reply_token: str = ""
    ) -> MessageResult:
        """Sends the messages of a chain, five in each call, the first ones under the reply token if there is one."""
        has_buttons = any(isinstance(each, Platform) and each.component_type == BUTTONS_COMPONENT for each in chain)
        buttons_id = f"{BUTTONS_PREFIX}{uuid_key(key or token_hex(16))}"
        messages = await self._encoder.encode(chain, target_type == "group", buttons_id)
        calls = [messages[first : first + MESSAGES_PER_CALL] for first in range(0, len(messages), MESSAGES_PER_CALL)]
        message_ids: list[str] = []

        async def send(call: int, messages: list[Payload]) -> str:
            if reply_token and call == 0:
                sent = await self._client.reply(reply_token, messages)
            else:
                retry_key = uuid_key(f"{key}:{call}") if key else None
                sent = await self._client.push(target_id, messages, retry_key)
            for each in sent:
                self._quote_tokens.set(text(each, "id"), text(each, "quoteToken"))
                message_ids.append(text(each, "id"))
            return text(sent[0], "id") if sent else ""

        first, *_ = await self._sends.send(key, calls, send)
        return MessageResult(message_id=buttons_id if has_buttons else first, raw={"message_ids": message_ids})

    async def send_typing(self, chat_type: ChatType, chat_id: str, thread_id: str = "") -> None:
        if chat_type != "private":
            raise PlatformRefused("LINE shows typing in private chats only", permanent=True)
        body = {"chatId": chat_id, "loadingSeconds": TYPING_SECONDS}
        await self._client.post("/v2/bot/chat/loading/start", "loading", body)

    # --- groups and users

    async def get_group_info(self, group_id: str) -> Group:
        """Returns a group with the number of its members; a room has no name."""
        kind = _group_kind(group_id)
        counted = await self._client.get(f"/v2/bot/{kind}/{quote(group_id)}/members/count", "number of members")
        known = await self._profiles.group(group_id) if kind == "group" else {}
        return Group(
            id=group_id,
            name=text(known, "groupName"),
            avatar_url=text(known, "pictureUrl") or None,
            member_count=number(counted.get("count")),
        )

    async def get_group_member_info(self, group_id: str, user_id: str) -> GroupMember:
        _group_kind(group_id)
        profile = await self._profiles.user(quote(user_id), quote(group_id))
        return GroupMember(user=entities.user(user_id, profile), group_id=group_id)

    async def leave_group(self, group_id: str) -> None:
        await self._client.post(f"/v2/bot/{_group_kind(group_id)}/{quote(group_id)}/leave", "leave")

    async def get_user_info(self, user_id: str) -> User:
        return entities.user(user_id, await self._profiles.user(quote(user_id)))

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        match action:
            case "get_quota":
                return await self._client.quota()
            case "get_bot_info":
                return await self._client.get("/v2/bot/info", "bot info")
        raise NotSupportedError(f"the action {action}")


def _group_kind(group_id: str) -> str:
    kind = chat_kind(group_id)
    if kind == "user":
        raise PlatformRefused(f"group_id: '{group_id[:60]}' is no group or room of LINE", permanent=True)
    return kind
