"""Implements the platform API on OneBot 11.

Ids are sent as numbers; methods that are not overridden are not supported.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from parlour.core.platforms.api import IsKnownMessage, PlatformApi
from parlour.core.platforms.port import FileContent, PlatformOffline, PlatformRefused
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, User
from parlour_sdk.protocol.platform_api import MessageResult, PlatformMessage

from . import account_routing, history, users
from .account_routing import RoutingKey
from .actions import run_action
from .client import OneBotConnection
from .cq_codes import format_segments
from .decode import event_time
from .encode import OneBotMessage, encode
from .segments import chain_of, file_location, segments_of
from .state import OneBotState
from .values import native_id, number

MAX_MUTE_SECONDS = 30 * 24 * 3600
"""Maximum duration of a mute on QQ in seconds, which is also used for a permanent one."""


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
        messages = await encode(chain, self._fetch)
        if not messages:
            raise PlatformRefused("there is nothing in this message that OneBot could send", permanent=True)
        sent = self._memory.sent_parts(idempotency_key)
        for message in messages[len(sent) :]:
            sent.append(await self._send(target_type, target_id, message))
        self._memory.clear_parts(idempotency_key)
        return MessageResult(message_id=sent[0] or None, raw={"message_ids": list(sent)})

    async def find_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str,
        taken: IsKnownMessage,
        thread_id: str = "",
    ) -> MessageResult | None:
        """Searches the chat's latest messages, which most implementations offer although the standard doesn't."""
        messages = await encode(chain, self._fetch)
        if len(messages) != 1 or messages[0].kind == "forward":
            return None
        try:
            connection = self._connection(*_chat(target_type, target_id))
            latest = await connection.call(*history.request(target_type, native_id("target_id", target_id)))
        except PlatformOffline:
            raise
        except PlatformRefused:
            return None
        own = history.own_messages(latest, connection.account, history.key_time(idempotency_key))
        for message_id in history.equal_messages(own, messages[0].segments):
            if not await taken(message_id):
                return MessageResult(message_id=message_id)
        return None

    async def _send(self, target_type: ChatType, target_id: str, message: OneBotMessage, *about: RoutingKey) -> str:
        """Sends a message and returns its id; empty if the response has none."""
        connection = self._connection(*about, *_chat(target_type, target_id))
        target = self._target(connection.account, target_type, target_id)
        said: dict[str, Any]
        if message.kind == "forward":
            action, said = f"send_{target_type}_forward_msg", {"messages": message.segments}
        elif self._memory.uses_cq_strings(connection.account):
            action, said = f"send_{target_type}_msg", {"message": format_segments(message.segments)}
        else:
            action, said = f"send_{target_type}_msg", {"message": message.segments}
        answer = await connection.call(action, {**target, **said})
        name = _message_id(answer)
        if name:
            self._memory.record_sent(connection.account, name)
            self._memory.routing.record(connection.account, account_routing.message(target_type, target_id, name))
        return name

    def _target(self, account: str, target_type: ChatType, target_id: str) -> dict[str, int]:
        number = native_id("target_id", target_id)
        if target_type == "group":
            return {"group_id": number}
        through = self._memory.private_group(account, target_id)
        return {"user_id": number} if through is None else {"user_id": number, "group_id": through}

    async def delete_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> None:
        where = _message(chat_type, chat_id, message_id)
        await self._call("delete_msg", *where, message_id=native_id("message_id", message_id))

    async def forward_message(
        self, from_chat_type: ChatType, from_chat_id: str, message_id: str, to_chat_type: ChatType, to_chat_id: str
    ) -> MessageResult:
        """Forwards a message as a merged forward of one, which NapCat, LLOneBot and go-cqhttp support; Lagrange refuses
        it.
        """
        node = {"type": "node", "data": {"id": str(native_id("message_id", message_id))}}
        where = _message(from_chat_type, from_chat_id, message_id)
        sent = await self._send(to_chat_type, to_chat_id, OneBotMessage("forward", [node]), *where)
        return MessageResult(message_id=sent or None)

    async def get_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> PlatformMessage:
        where = _message(chat_type, chat_id, message_id)
        told = users.object_of(await self._call("get_msg", *where, message_id=native_id("message_id", message_id)))
        sender = told.get("sender")
        return PlatformMessage(
            message_id=message_id,
            chat_type=chat_type,
            chat_id=chat_id,
            sender=users.user(sender) if isinstance(sender, dict) and sender.get("user_id") else None,
            time=event_time(told) if "time" in told else None,
            chain=chain_of(segments_of(told.get("message", []))),
        )

    async def get_group_info(self, group_id: str) -> Group:
        return users.group(await self._in_group("get_group_info", group_id))

    async def get_group_list(self) -> Sequence[Group]:
        return [users.group(each) for each in users.list_of(await self._call("get_group_list"))]

    async def get_group_member_list(self, group_id: str) -> Sequence[GroupMember]:
        answer = await self._in_group("get_group_member_list", group_id)
        return [users.member(each, group_id) for each in users.list_of(answer)]

    async def get_group_member_info(self, group_id: str, user_id: str) -> GroupMember:
        return users.member(await self._member("get_group_member_info", group_id, user_id, no_cache=True), group_id)

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
        account = self._connection(account_routing.chat("group", group_id)).account
        told = await self._member("get_group_member_info", group_id, account, no_cache=True)
        until = number(users.object_of(told).get("shut_up_timestamp"))
        return until is not None and until > time.time()

    async def get_user_info(self, user_id: str) -> User:
        number = native_id("user_id", user_id)
        return users.user(
            await self._call("get_stranger_info", *_chat("private", user_id), user_id=number, no_cache=True)
        )

    async def get_friend_list(self) -> Sequence[User]:
        return [users.user(each) for each in users.list_of(await self._call("get_friend_list"))]

    async def answer_friend_request(self, request_id: str, approve: bool, remark: str | None = None) -> None:
        flag, said = account_routing.request(request_id), remark or ""
        await self._call("set_friend_add_request", flag, flag=request_id, approve=approve, remark=said)

    async def answer_group_invite(self, request_id: str, approve: bool) -> None:
        flag = account_routing.request(request_id)
        await self._call("set_group_add_request", flag, flag=request_id, sub_type="invite", approve=approve)

    async def get_file_url(self, file_id: str) -> str:
        """Returns the address of a picture; OneBot looks up other files by their chat."""
        place = file_location(users.object_of(await self._call("get_image", file=file_id)))
        if place is None or "url" not in place:
            raise PlatformRefused("OneBot has no address for this file", permanent=True)
        return str(place["url"])

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        return await run_action(self._connection(*account_routing.routing_keys(params)), action, params)

    async def _member(self, action: str, group_id: str, user_id: str, **more: Any) -> Any:
        return await self._in_group(action, group_id, user_id=native_id("user_id", user_id), **more)

    async def _in_group(self, action: str, group_id: str, **more: Any) -> Any:
        where = account_routing.chat("group", group_id)
        return await self._call(action, where, group_id=native_id("group_id", group_id), **more)

    async def _call(self, action: str, *names: RoutingKey, **params: Any) -> Any:
        return await self._connection(*names).call(action, params)


def _message_id(answer: Any) -> str:
    message_id = answer.get("message_id") if isinstance(answer, dict) else None
    return str(message_id) if message_id is not None else ""


def _chat(chat_type: ChatType, chat_id: str) -> tuple[RoutingKey, ...]:
    """Returns the routing keys of a chat. A user may have been seen only in a group."""
    chat = account_routing.chat(chat_type, chat_id)
    return (chat, account_routing.user(chat_id)) if chat_type == "private" else (chat,)


def _message(chat_type: ChatType, chat_id: str, message_id: str) -> tuple[RoutingKey, ...]:
    return account_routing.message(chat_type, chat_id, message_id), *_chat(chat_type, chat_id)
