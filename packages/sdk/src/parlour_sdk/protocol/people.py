"""Who events are about. Ids are strings everywhere; a platform's integers are converted losslessly."""

from typing import Literal

from .base import Tolerant

ChatType = Literal["private", "group"]
MemberRole = Literal["owner", "admin", "member"]


class User(Tolerant):
    """Somebody on a platform."""

    id: str
    nickname: str = ""
    avatar_url: str | None = None
    is_bot: bool = False
    username: str | None = None
    remark: str | None = None
    """The name that the bot's account gave them."""


class Group(Tolerant):
    """A chat of many."""

    id: str
    name: str = ""
    description: str | None = None
    member_count: int | None = None
    avatar_url: str | None = None
    owner_id: str | None = None


class GroupMember(Tolerant):
    """A user in a group."""

    user: User
    group_id: str
    role: MemberRole = "member"
    display_name: str | None = None
    """Their name in this group."""
    joined_at: int | None = None
    title: str | None = None
