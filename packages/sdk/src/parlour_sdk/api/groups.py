"""Reads and manages the groups that a bot is in, and their members."""

from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.people import Group, GroupMember
from parlour_sdk.protocol.platform_api import (
    GetGroupInfo,
    GetGroupList,
    GetGroupMemberInfo,
    GetGroupMemberList,
    GroupList,
    IsMuted,
    KickMember,
    LeaveGroup,
    MemberList,
    MutedState,
    MuteMember,
    SetGroupName,
    UnmuteMember,
)

from .calls import Namespace


class GroupsAPI(Namespace):
    async def info(self, bot_id: str, group_id: str) -> Group:
        return await self._calls.call("get_group_info", GetGroupInfo, Group, bot_id=bot_id, group_id=group_id)

    async def members(self, bot_id: str, group_id: str) -> list[GroupMember]:
        answer = await self._calls.call(
            "get_group_member_list", GetGroupMemberList, MemberList, bot_id=bot_id, group_id=group_id
        )
        return answer.members

    async def member(self, bot_id: str, group_id: str, user_id: str) -> GroupMember:
        return await self._calls.call(
            "get_group_member_info",
            GetGroupMemberInfo,
            GroupMember,
            bot_id=bot_id,
            group_id=group_id,
            user_id=user_id,
        )

    async def rename(self, bot_id: str, group_id: str, name: str) -> None:
        await self._calls.call("set_group_name", SetGroupName, Done, bot_id=bot_id, group_id=group_id, name=name)

    async def mute(self, bot_id: str, group_id: str, user_id: str, duration: int = 0) -> None:
        """Mutes a member for `duration` seconds; 0 means without end."""
        await self._calls.call(
            "mute_member", MuteMember, Done, bot_id=bot_id, group_id=group_id, user_id=user_id, duration=duration
        )

    async def unmute(self, bot_id: str, group_id: str, user_id: str) -> None:
        await self._calls.call("unmute_member", UnmuteMember, Done, bot_id=bot_id, group_id=group_id, user_id=user_id)

    async def kick(self, bot_id: str, group_id: str, user_id: str) -> None:
        await self._calls.call("kick_member", KickMember, Done, bot_id=bot_id, group_id=group_id, user_id=user_id)

    async def leave(self, bot_id: str, group_id: str) -> None:
        await self._calls.call("leave_group", LeaveGroup, Done, bot_id=bot_id, group_id=group_id)

    async def is_muted(self, bot_id: str, group_id: str) -> bool:
        """Returns whether the bot itself is muted in the group."""
        return (await self._calls.call("is_muted", IsMuted, MutedState, bot_id=bot_id, group_id=group_id)).muted

    async def list(self, bot_id: str) -> list[Group]:
        return (await self._calls.call("get_group_list", GetGroupList, GroupList, bot_id=bot_id)).groups
