"""The platform API of `events.md` as a base class. Each adapter overrides the methods that its platform supports.

The other methods raise NotSupportedError; a test checks that an adapter declares exactly what it overrides. Methods
raise PlatformRefused if the platform refused and PlatformUncertain if it did not respond.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from parlour.core.model.reply_allowance import ReplyHandle
from parlour_sdk.protocol.chain import MessageChain
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, User
from parlour_sdk.protocol.platform_api import MessageResult, NotSupportedError, PlatformMessage, UploadedFile

IsKnownMessage = Callable[[str], Awaitable[bool]]
"""Returns whether a message id is known to belong to another message."""


class PlatformStream(Protocol):
    """A message that is streamed by the platform itself."""

    async def append(self, text: str) -> None:
        """Appends text. Raises PlatformRefused with a time if the platform accepts nothing for now."""
        ...

    async def finish(self, chain: MessageChain) -> MessageResult: ...

    async def fail(self, reason: str) -> None: ...


class PlatformApi:
    """The methods of a platform. `thread_id` names a topic or thread of the chat, where there are any."""

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a message. A quoted message is a Quote component of the chain."""
        raise NotSupportedError("send_message")

    async def send_reply(
        self,
        reply: ReplyHandle,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        """Sends a counted reply to an event that has a reply allowance. Not for plugins.

        Raises ReplyHandleRejected if the platform certainly showed nothing because of the handle.
        """
        return await self.send_message(target_type, target_id, chain, idempotency_key, thread_id)

    async def find_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str,
        is_known: IsKnownMessage,
        thread_id: str = "",
    ) -> MessageResult | None:
        """Looks up the message that was sent under this key; None if the platform can't say. Not for plugins.

        A message for which `is_known` returns true is another one that the Host has sent, even if its text is equal.
        An API with streams of its own returns a message of an earlier process only when it has completed it.
        """
        return None

    async def edit_message(
        self, chat_type: ChatType, chat_id: str, message_id: str, chain: MessageChain
    ) -> MessageResult:
        raise NotSupportedError("edit_message")

    async def delete_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> None:
        raise NotSupportedError("delete_message")

    async def forward_message(
        self,
        from_chat_type: ChatType,
        from_chat_id: str,
        message_id: str,
        to_chat_type: ChatType,
        to_chat_id: str,
    ) -> MessageResult:
        raise NotSupportedError("forward_message")

    async def get_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> PlatformMessage:
        raise NotSupportedError("get_message")

    async def react(self, chat_type: ChatType, chat_id: str, message_id: str, reaction: str, add: bool = True) -> None:
        raise NotSupportedError("react")

    async def get_group_info(self, group_id: str) -> Group:
        raise NotSupportedError("get_group_info")

    async def get_group_list(self) -> Sequence[Group]:
        raise NotSupportedError("get_group_list")

    async def get_group_member_list(self, group_id: str) -> Sequence[GroupMember]:
        raise NotSupportedError("get_group_member_list")

    async def get_group_member_info(self, group_id: str, user_id: str) -> GroupMember:
        raise NotSupportedError("get_group_member_info")

    async def set_group_name(self, group_id: str, name: str) -> None:
        raise NotSupportedError("set_group_name")

    async def mute_member(self, group_id: str, user_id: str, duration: int = 0) -> None:
        """Mutes a member for this many seconds; 0 means permanently."""
        raise NotSupportedError("mute_member")

    async def unmute_member(self, group_id: str, user_id: str) -> None:
        raise NotSupportedError("unmute_member")

    async def kick_member(self, group_id: str, user_id: str) -> None:
        raise NotSupportedError("kick_member")

    async def leave_group(self, group_id: str) -> None:
        raise NotSupportedError("leave_group")

    async def is_muted(self, group_id: str) -> bool:
        raise NotSupportedError("is_muted")

    async def get_user_info(self, user_id: str) -> User:
        raise NotSupportedError("get_user_info")

    async def get_friend_list(self) -> Sequence[User]:
        raise NotSupportedError("get_friend_list")

    async def answer_friend_request(self, request_id: str, approve: bool, remark: str | None = None) -> None:
        raise NotSupportedError("answer_friend_request")

    async def answer_group_invite(self, request_id: str, approve: bool) -> None:
        raise NotSupportedError("answer_group_invite")

    async def upload_file(self, data: bytes, filename: str) -> UploadedFile:
        raise NotSupportedError("upload_file")

    async def get_file_url(self, file_id: str) -> str:
        raise NotSupportedError("get_file_url")

    async def send_typing(self, chat_type: ChatType, chat_id: str, thread_id: str = "") -> None:
        raise NotSupportedError("send_typing")

    def streams(self, target_type: ChatType) -> bool:
        """Returns whether open_stream works in such chats now; other chats are streamed by edits. Not for plugins."""
        return True

    async def open_stream(
        self, target_type: ChatType, target_id: str, idempotency_key: str, thread_id: str = ""
    ) -> PlatformStream:
        raise NotSupportedError("open_stream")

    async def call_platform_api(self, action: str, params: dict[str, Any]) -> Any:
        """Calls one of the actions that the manifest declares. The parameters were checked against its schema."""
        raise NotSupportedError(f"the action {action}")
