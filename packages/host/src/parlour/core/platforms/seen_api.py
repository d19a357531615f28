"""Answers the read methods of the platform API from the directory, for platforms that have no look-up.

Its answers may be incomplete: they contain what the events of the bot have named within the retention period.
"""

from collections.abc import Sequence
from typing import Any, cast, get_args

from parlour.core.encoding import loads
from parlour.core.journal import Row
from parlour.core.model.chats import split_chat_key
from parlour.core.model.ids import BotId
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, MemberRole, User
from parlour_sdk.protocol.platform_api import PlatformMessage

from .api import PlatformApi
from .directory import Directory, details
from .port import PlatformRefused


class SeenApi(PlatformApi):
    """The read methods of one bot."""

    def __init__(self, directory: Directory, bot_id: BotId) -> None:
        self._directory = directory
        self._bot_id = bot_id

    async def get_message(self, chat_type: ChatType, chat_id: str, message_id: str) -> PlatformMessage:
        for row in await self._directory.messages(self._bot_id, message_id):
            if split_chat_key(row["chat"]) == (chat_type, chat_id):
                event = await self._directory.event(self._bot_id, row["event_id"])
                if event is not None:
                    return await self._message(chat_type, chat_id, message_id, row, event)
        raise _unseen(f"message '{message_id}'")

    async def get_group_info(self, group_id: str) -> Group:
        row = await self._directory.entry(self._bot_id, "group", group_id)
        if row is None:
            raise _unseen(f"group '{group_id}'")
        return _group(row)

    async def get_group_list(self) -> Sequence[Group]:
        return [_group(row) for row in await self._directory.groups(self._bot_id)]

    async def get_group_member_list(self, group_id: str) -> Sequence[GroupMember]:
        rows = await self._directory.members(self._bot_id, group_id)
        users = await self._directory.users(self._bot_id, [row["user_id"] for row in rows])
        return [_member(row, users.get(row["user_id"])) for row in rows]

    async def get_group_member_info(self, group_id: str, user_id: str) -> GroupMember:
        row = await self._directory.member(self._bot_id, group_id, user_id)
        if row is None:
            raise _unseen(f"member '{user_id}' of group '{group_id}'")
        return _member(row, await self._directory.entry(self._bot_id, "user", user_id))

    async def get_user_info(self, user_id: str) -> User:
        row = await self._directory.entry(self._bot_id, "user", user_id)
        if row is None:
            raise _unseen(f"user '{user_id}'")
        return _user(row)

    async def get_friend_list(self) -> Sequence[User]:
        return [_user(row) for row in await self._directory.friends(self._bot_id)]

    async def _message(
        self, chat_type: ChatType, chat_id: str, message_id: str, row: Row, event: Row
    ) -> PlatformMessage:
        sender = await self._directory.entry(self._bot_id, "user", row["sender_id"])
        content: dict[str, Any] = {
            "message_id": message_id,
            "chat_type": chat_type,
            "chat_id": chat_id,
            "sender": _user(sender) if sender is not None else None,
            "time": event["event_time"] or None,
            "chain": loads(event["body"])["data"].get("message_chain", []),
        }
        return PlatformMessage.model_validate(content)


def _unseen(name: str) -> PlatformRefused:
    return PlatformRefused(f"the platform has no look-up, and no event has named {name}", permanent=True)


def _user(row: Row) -> User:
    return User(id=row["entity_id"], nickname=row["name"], **details(row))


def _group(row: Row) -> Group:
    return Group(id=row["entity_id"], name=row["name"], **details(row))


def _member(row: Row, user: Row | None) -> GroupMember:
    role = cast(MemberRole, row["role"] if row["role"] in get_args(MemberRole) else "member")
    person = _user(user) if user is not None else User(id=row["user_id"])
    return GroupMember(user=person, group_id=row["group_id"], role=role, display_name=row["name"] or None)
