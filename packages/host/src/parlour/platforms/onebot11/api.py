"""Implements the platform API on OneBot 11.

Ids are sent as numbers; methods that are not overridden are not supported. The latest messages of a chat show whether a
send without acknowledgement has arrived.
"""

import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any
from uuid import UUID

from parlour.core.platforms.api import IsKnownMessage, PlatformApi
from parlour.core.platforms.port import FileContent, PlatformOffline, PlatformRefused
from parlour_sdk.protocol.chain import Forward, MessageChain
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, User
from parlour_sdk.protocol.platform_api import MessageResult, PlatformMessage

from .actions import run_action
from .connection import OneBotConnection
from .decode import event_time
from .encode import OneBotMessage, encode
from .payloads import list_of, native_id, number, object_of, read_group, read_member, read_user
from .segments import Segment, chain_of, file_location, format_segments, segments_of
from .state import OneBotState, RoutingKey, chat_key, message_key, request_key, routing_keys, user_key

MAX_MUTE_SECONDS = 30 * 24 * 3600
"""Maximum duration of a mute on QQ in seconds, which is also used for a permanent one."""
HISTORY_MESSAGES = 50
MAX_CLOCK_SKEW_SECONDS = 2
"""Maximum clock difference in seconds.

With more, the message is not found and is sent again, which is the safe side.
"""
Payload = dict[str, Any]


class OneBotApi(PlatformApi):
    """Platform API of a OneBot bot. `connection` chooses the connection of a call by its routing keys."""

    def __init__(
        self,
        connection: Callable[..., OneBotConnection],
        fetch: Callable[[str], Awaitable[FileContent]],
        memory: OneBotState,
    ) -> None:
        self._connection = connection
        self._fetch = fetch
        self._memory = memory

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a chain as one or more messages. The result has the id of the first one; `raw` has all ids."""
        messages = await encode(chain, self._fetch, self._forward_author(target_type, target_id, chain))
        if not messages:
            raise PlatformRefused("there is nothing in this message that OneBot could send", permanent=True)
        sent_ids = self._memory.sent_parts(idempotency_key)
        for message in messages[len(sent_ids) :]:
            sent_ids.append(await self._send(target_type, target_id, message))
        self._memory.clear_parts(idempotency_key)
        return MessageResult(message_id=sent_ids[0] or None, raw={"message_ids": list(sent_ids)})

    async def find_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str,
        is_known: IsKnownMessage,
        thread_id: str = "",
    ) -> MessageResult | None:
        """Searches the chat's latest messages, which most implementations offer although the standard doesn't."""
        messages = await encode(chain, self._fetch)
        if len(messages) != 1 or messages[0].kind == "forward":
            return None
        try:
            connection = self._connection(*_chat(target_type, target_id))
            latest = await connection.call(*_history_request(target_type, native_id("target_id", target_id)))
        except PlatformOffline:
            raise
        except PlatformRefused:
            return None
        own_messages = _own_messages(latest, connection.account, _key_time(idempotency_key))
        for message_id in _equal_messages(own_messages, messages[0].segments):
            if not await is_known(message_id):
                return MessageResult(message_id=message_id)
        return None

    async def _send(
        self, target_type: ChatType, target_id: str, message: OneBotMessage, *routing_keys: RoutingKey
    ) -> str:
        """Sends a message and returns its id; empty if the response has none."""
        connection = self._connection(*routing_keys, *_chat(target_type, target_id))
        target = self._target(connection.account, target_type, target_id)
        fields: dict[str, Any]
        if message.kind == "forward":
            action, fields = f"send_{target_type}_forward_msg", {"messages": message.segments}
        elif self._memory.uses_cq_strings(connection.account):
            action, fields = f"send_{target_type}_msg", {"message": format_segments(message.segments)}
        else:
            action, fields = f"send_{target_type}_msg", {"message": message.segments}
        answer = await connection.call(action, {**target, **fields})
        name = _message_id(answer)
        if name:
            self._memory.record_sent(connection.account, name)
            self._memory.routing.record(connection.account, message_key(target_type, target_id, name))
        return name

    def _forward_author(self, target_type: ChatType, target_id: str, chain: MessageChain) -> str:
        """Returns the account that forwarded messages without a sender are of; empty if the chain has none."""
        is_needed = any(isinstance(each, Forward) for each in chain)
        return self._connection(*_chat(target_type, target_id)).account if is_needed else ""

    def _target(self, account: str, target_type: ChatType, target_id: str) -> dict[str, int]:
        number = native_id("target_id", target_id)
        if target_type == "group":
            return {"group_id": number}
        group_id = self._memory.private_group(account, target_id)
        return {"user_id": number} if group_id is None else {"user_id": number, "group_id": group_id}

    async def delete_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> None:
        routing_keys = _message(chat_type, chat_id, message_id)
        await self._call("delete_msg", *routing_keys, message_id=native_id("message_id", message_id))

    async def forward_message(
        self, from_chat_type: ChatType, from_chat_id: str, message_id: str, to_chat_type: ChatType, to_chat_id: str
    ) -> MessageResult:
        """Forwards a message as a merged forward of one, which NapCat, LLOneBot and go-cqhttp support; Lagrange refuses
        it.
        """
        node = {"type": "node", "data": {"id": str(native_id("message_id", message_id))}}
        routing_keys = _message(from_chat_type, from_chat_id, message_id)
        sent_id = await self._send(to_chat_type, to_chat_id, OneBotMessage("forward", [node]), *routing_keys)
        return MessageResult(message_id=sent_id or None)

    async def get_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> PlatformMessage:
        routing_keys = _message(chat_type, chat_id, message_id)
        message = object_of(await self._call("get_msg", *routing_keys, message_id=native_id("message_id", message_id)))
        sender = message.get("sender")
        return PlatformMessage(
            message_id=message_id,
            chat_type=chat_type,
            chat_id=chat_id,
            sender=read_user(sender) if isinstance(sender, dict) and sender.get("user_id") else None,
            time=event_time(message) if "time" in message else None,
            chain=chain_of(segments_of(message.get("message", []))),
        )

    async def get_group_info(self, group_id: str) -> Group:
        return read_group(await self._in_group("get_group_info", group_id))

    async def get_group_list(self) -> Sequence[Group]:
        return [read_group(each) for each in list_of(await self._call("get_group_list"))]

    async def get_group_member_list(self, group_id: str) -> Sequence[GroupMember]:
        answer = await self._in_group("get_group_member_list", group_id)
        return [read_member(each, group_id) for each in list_of(answer)]

    async def get_group_member_info(self, group_id: str, user_id: str) -> GroupMember:
        return read_member(await self._member("get_group_member_info", group_id, user_id, no_cache=True), group_id)

    async def set_group_name(self, group_id: str, name: str) -> None:
        await self._in_group("set_group_name", group_id, group_name=name)

    async def mute_member(self, group_id: str, user_id: str, duration: int = 0) -> None:
        seconds = min(duration or MAX_MUTE_SECONDS, MAX_MUTE_SECONDS)
        await self._member("set_group_ban", group_id, user_id, duration=seconds)

    async def unmute_member(self, group_id: str, user_id: str) -> None:
        await self._member("set_group_ban", group_id, user_id, duration=0)

    async def kick_member(self, group_id: str, user_id: str) -> None:
        await self._member("set_group_kick", group_id, user_id, reject_add_request=False)

    async def leave_group(self, group_id: str) -> None:
        await self._in_group("set_group_leave", group_id, is_dismiss=False)

    async def is_muted(self, group_id: str) -> bool:
        account = self._connection(chat_key("group", group_id)).account
        member = await self._member("get_group_member_info", group_id, account, no_cache=True)
        muted_until = number(object_of(member).get("shut_up_timestamp"))
        return muted_until is not None and muted_until > time.time()

    async def get_user_info(self, user_id: str) -> User:
        number = native_id("user_id", user_id)
        return read_user(
            await self._call("get_stranger_info", *_chat("private", user_id), user_id=number, no_cache=True)
        )

    async def get_friend_list(self) -> Sequence[User]:
        return [read_user(each) for each in list_of(await self._call("get_friend_list"))]

    async def answer_friend_request(self, request_id: str, approve: bool, remark: str | None = None) -> None:
        flag, remark_text = request_key(request_id), remark or ""
        await self._call("set_friend_add_request", flag, flag=request_id, approve=approve, remark=remark_text)

    async def answer_group_invite(self, request_id: str, approve: bool) -> None:
        flag = request_key(request_id)
        await self._call("set_group_add_request", flag, flag=request_id, sub_type="invite", approve=approve)

    async def get_file_url(self, file_id: str) -> str:
        """Returns the address of a picture; OneBot looks up other files by their chat."""
        location = file_location(object_of(await self._call("get_image", file=file_id)))
        if location is None or "url" not in location:
            raise PlatformRefused("OneBot has no address for this file", permanent=True)
        return str(location["url"])

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        return await run_action(self._connection(*routing_keys(params)), action, params)

    async def _member(self, action: str, group_id: str, user_id: str, **fields: Any) -> Any:
        return await self._in_group(action, group_id, user_id=native_id("user_id", user_id), **fields)

    async def _in_group(self, action: str, group_id: str, **fields: Any) -> Any:
        routing_key = chat_key("group", group_id)
        return await self._call(action, routing_key, group_id=native_id("group_id", group_id), **fields)

    async def _call(self, action: str, *names: RoutingKey, **params: Any) -> Any:
        return await self._connection(*names).call(action, params)


def _message_id(answer: Any) -> str:
    message_id = answer.get("message_id") if isinstance(answer, dict) else None
    return str(message_id) if message_id is not None else ""


def _chat(chat_type: ChatType, chat_id: str) -> tuple[RoutingKey, ...]:
    """Returns the routing keys of a chat. A user may have been seen only in a group."""
    chat = chat_key(chat_type, chat_id)
    return (chat, user_key(chat_id)) if chat_type == "private" else (chat,)


def _message(chat_type: ChatType, chat_id: str, message_id: str) -> tuple[RoutingKey, ...]:
    return message_key(chat_type, chat_id, message_id), *_chat(chat_type, chat_id)


def _history_request(target_type: str, target: int) -> tuple[str, Payload]:
    """Returns action and parameters of the look-up."""
    if target_type == "group":
        return "get_group_msg_history", {"group_id": target, "count": HISTORY_MESSAGES}
    return "get_friend_msg_history", {"user_id": target, "count": HISTORY_MESSAGES}


def _key_time(key: str) -> int:
    """Returns the time of an idempotency key in seconds since 1970, far in the future if it has none.

    The Host's keys are UUIDs of version 7, which begin with their time.
    """
    try:
        key_id = UUID(key)
    except ValueError:
        return 2**40
    return (key_id.int >> 80) // 1000 if key_id.version == 7 else 2**40


def _own_messages(answer: Any, account: str, since: int) -> list[Payload]:
    """Returns the account's own messages that are recent enough, the latest first."""
    listed = answer.get("messages") if isinstance(answer, dict) else None
    messages = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    recent = [each for each in messages if (number(each.get("time")) or 0) >= since - MAX_CLOCK_SKEW_SECONDS]
    return [each for each in reversed(recent) if _sender(each) == account]


def _equal_messages(messages: list[Payload], segments: list[Segment]) -> Iterator[str]:
    """Yields the ids of messages with equal content.

    Files come back under other names, so only their presence is compared.
    """
    sent_outline = _outline(segments)
    for message in messages:
        try:
            same = _outline(segments_of(message.get("message"))) == sent_outline
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if same and "message_id" in message:
            yield str(message["message_id"])


def _outline(segments: list[Any]) -> str:
    """Builds a normalized text for comparison: adjacent texts may come back as one, and line endings may differ."""
    outline = "".join(_segment_text(segment["type"], segment["data"]) for segment in segments)
    return outline.replace("\r\n", "\n").replace("\r", "\n").strip()


def _segment_text(kind: str, data: Payload) -> str:
    return str(data.get("text", "")) if kind == "text" else f"\0{kind}:{data.get('qq', '')}\0"


def _sender(message: Payload) -> str:
    sender = message.get("sender")
    return str(sender.get("user_id")) if isinstance(sender, dict) else str(message.get("user_id"))
