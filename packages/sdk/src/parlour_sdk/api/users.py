"""Reads users that a bot knows, and answers pending friend requests and group invitations."""

from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.people import User
from parlour_sdk.protocol.platform_api import (
    AnswerFriendRequest,
    AnswerGroupInvite,
    FriendList,
    GetFriendList,
    GetUserInfo,
)

from .calls import Namespace


class UsersAPI(Namespace):
    async def info(self, bot_id: str, user_id: str) -> User:
        return await self._calls.call("get_user_info", GetUserInfo, User, bot_id=bot_id, user_id=user_id)

    async def friends(self, bot_id: str) -> list[User]:
        return (await self._calls.call("get_friend_list", GetFriendList, FriendList, bot_id=bot_id)).friends

    async def answer_friend_request(
        self, bot_id: str, request_id: str, approve: bool, remark: str | None = None
    ) -> None:
        await self._calls.call(
            "answer_friend_request",
            AnswerFriendRequest,
            Done,
            bot_id=bot_id,
            request_id=request_id,
            approve=approve,
            remark=remark,
        )

    async def answer_group_invite(self, bot_id: str, request_id: str, approve: bool) -> None:
        await self._calls.call(
            "answer_group_invite", AnswerGroupInvite, Done, bot_id=bot_id, request_id=request_id, approve=approve
        )
