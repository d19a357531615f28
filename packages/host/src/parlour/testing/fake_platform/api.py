"""Implements the platform API of the fake platform: every call works unless a fault is planned."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from parlour.core.model.reply_allowance import ReplyHandle
from parlour.core.platforms.api import IsKnownMessage, PlatformApi
from parlour.core.platforms.port import HostLink, PlatformOffline
from parlour_sdk.protocol.chain import MessageChain, chain_text
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, User
from parlour_sdk.protocol.platform_api import MessageResult, PlatformMessage, UploadedFile

from .world import FakePlatform, ShownMessage, ShownStream

Result = TypeVar("Result")


class FakeApi(PlatformApi):
    def __init__(self, platform: FakePlatform, link: HostLink) -> None:
        self._platform = platform
        self._link = link

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        message = ShownMessage(f"out-{self._platform.number()}", target_type, target_id, thread_id, chain)
        return await self._show(message, idempotency_key)

    async def send_reply(
        self,
        reply: ReplyHandle,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        message = ShownMessage(f"out-{self._platform.number()}", target_type, target_id, thread_id, chain)
        return await self._show(message, idempotency_key, reply)

    async def _show(self, message: ShownMessage, key: str | None, reply: ReplyHandle | None = None) -> MessageResult:
        def send() -> MessageResult:
            return MessageResult(message_id=self._platform.show(message, key or "", reply).message_id)

        return await self._do("send_message", send, target_type=message.chat_type, target_id=message.chat_id)

    async def find_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str,
        is_known: IsKnownMessage,
        thread_id: str = "",
    ) -> MessageResult | None:
        if not self._platform.remembers_keys:
            return None
        matches = (each for each in self._platform.shown if each.key == idempotency_key)
        return next((MessageResult(message_id=each.message_id) for each in matches), None)

    async def edit_message(
        self, chat_type: ChatType, chat_id: str, message_id: str, chain: MessageChain
    ) -> MessageResult:
        def edit() -> MessageResult:
            message = self._platform.find(message_id)
            message.chain = chain
            message.versions.append(chain_text(chain))
            return MessageResult(message_id=message_id)

        return await self._do("edit_message", edit, message_id=message_id)

    async def delete_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> None:
        def delete() -> None:
            self._platform.find(message_id).deleted = True

        await self._do("delete_message", delete, message_id=message_id)

    async def forward_message(
        self, from_chat_type: ChatType, from_chat_id: str, message_id: str, to_chat_type: ChatType, to_chat_id: str
    ) -> MessageResult:
        return await self.send_message(to_chat_type, to_chat_id, self._platform.find(message_id).chain)

    async def get_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> PlatformMessage:
        chain = self._platform.find(message_id).chain
        return PlatformMessage(message_id=message_id, chat_type=chat_type, chat_id=chat_id, chain=chain)

    async def react(self, chat_type: ChatType, chat_id: str, message_id: str, reaction: str, add: bool = True) -> None:
        def react() -> None:
            reactions = self._platform.find(message_id).reactions
            reactions.append(reaction) if add else reactions.remove(reaction)

        await self._do("react", react, message_id=message_id, reaction=reaction, add=add)

    async def get_group_info(self, group_id: str) -> Group:
        return await self._do("get_group_info", lambda: Group(id=group_id, name="Fakes"), group_id=group_id)

    async def get_group_list(self) -> Sequence[Group]:
        return await self._do("get_group_list", lambda: [Group(id="1", name="Fakes")])

    async def get_group_member_list(self, group_id: str) -> Sequence[GroupMember]:
        return await self._do("get_group_member_list", lambda: [_member(group_id, "ann")], group_id=group_id)

    async def get_group_member_info(self, group_id: str, user_id: str) -> GroupMember:
        return await self._do("get_group_member_info", lambda: _member(group_id, user_id), group_id=group_id)

    async def set_group_name(self, group_id: str, name: str) -> None:
        await self._noted("set_group_name", group_id=group_id, name=name)

    async def mute_member(self, group_id: str, user_id: str, duration: int = 0) -> None:
        await self._noted("mute_member", group_id=group_id, user_id=user_id, duration=duration)

    async def unmute_member(self, group_id: str, user_id: str) -> None:
        await self._noted("unmute_member", group_id=group_id, user_id=user_id)

    async def kick_member(self, group_id: str, user_id: str) -> None:
        await self._noted("kick_member", group_id=group_id, user_id=user_id)

    async def leave_group(self, group_id: str) -> None:
        await self._noted("leave_group", group_id=group_id)

    async def is_muted(self, group_id: str) -> bool:
        return await self._do("is_muted", lambda: False, group_id=group_id)

    async def get_user_info(self, user_id: str) -> User:
        return await self._do("get_user_info", lambda: User(id=user_id, nickname=user_id.title()), user_id=user_id)

    async def get_friend_list(self) -> Sequence[User]:
        return await self._do("get_friend_list", lambda: [User(id="ann", nickname="Ann")])

    async def answer_friend_request(self, request_id: str, approve: bool, remark: str | None = None) -> None:
        await self._noted("answer_friend_request", request_id=request_id, approve=approve, remark=remark)

    async def answer_group_invite(self, request_id: str, approve: bool) -> None:
        await self._noted("answer_group_invite", request_id=request_id, approve=approve)

    async def upload_file(self, data: bytes, filename: str) -> UploadedFile:
        return await self._do("upload_file", lambda: UploadedFile(file_id=f"file-{filename}"), size=len(data))

    async def get_file_url(self, file_id: str) -> str:
        return await self._do("get_file_url", lambda: f"https://fake.example/{file_id}", file_id=file_id)

    async def send_typing(self, chat_type: ChatType, chat_id: str, thread_id: str = "") -> None:
        await self._do("send_typing", lambda: self._platform.typing.append((chat_type, chat_id)))

    async def open_stream(
        self, target_type: ChatType, target_id: str, idempotency_key: str, thread_id: str = ""
    ) -> "FakeStream":
        def open_it() -> FakeStream:
            stream = ShownStream(f"stream-{self._platform.number()}")
            self._platform.streams.append(stream)
            return FakeStream(stream, self._do, self._platform.changed)

        return await self._do("open_stream", open_it, target_id=target_id)

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        return await self._do(action, lambda: {"done": action}, **params)

    async def _noted(self, api: str, **arguments: Any) -> None:
        await self._do(api, lambda: None, **arguments)

    async def _do(self, api: str, operation: Callable[[], Result], **arguments: Any) -> Result:
        platform = self._platform
        if platform.delay_seconds:
            await asyncio.sleep(platform.delay_seconds)
        if not platform.connected:
            raise PlatformOffline("the fake platform is not connected", retry_after=0.05)
        fault = platform.fault(api)
        platform.calls.append((api, arguments))
        platform.called_at.append(asyncio.get_running_loop().time())
        if fault is not None and not fault.happens:
            await platform.changed()
            raise fault.error
        result = operation()
        await platform.changed()
        if fault is not None:
            raise fault.error
        return result


class FakeStream:
    """Calls `do` unless a fault is planned for this API."""

    def __init__(
        self,
        shown: ShownStream,
        do: Callable[[str, Callable[[], None]], Awaitable[None]],
        changed: Callable[[], Awaitable[None]],
    ) -> None:
        self._shown = shown
        self._do = do
        self._changed = changed

    async def append(self, text: str) -> None:
        await self._do("append", lambda: self._shown.pieces.append(text))

    async def finish(self, chain: MessageChain) -> MessageResult:
        self._shown.finished = True
        await self._changed()
        return MessageResult(message_id=self._shown.message_id)

    async def fail(self, reason: str) -> None:
        self._shown.failed = reason
        await self._changed()


def _member(group_id: str, user_id: str) -> GroupMember:
    return GroupMember(user=User(id=user_id, nickname=user_id.title()), group_id=group_id)
