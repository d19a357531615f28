"""Converts users, channels and members of Mattermost into common entities."""

import re
from typing import Any

from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.payloads import Payload, identifier, number, text
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, MemberRole, User
from parlour_sdk.values import dataclass

NAME = "mattermost"
SERVICE = "Mattermost"
DIRECT = "D"
ADMIN_ROLES = ("channel_admin", "team_admin", "system_admin")
_ID = re.compile(r"[a-z0-9]{26}")


@dataclass(frozen=True, slots=True)
class MattermostAccount:
    """The bot's own account."""

    id: str
    username: str = ""


def time_milliseconds(value: Any) -> int:
    """Returns a time in milliseconds. Raises ValueError if it is none."""
    moment = number(value)
    if moment is None or moment > 10**14:
        raise ValueError("a time is a number of milliseconds")
    return moment


def checked_id(name: str, value: str) -> str:
    """Returns an id, which becomes a part of an address. Raises PlatformRefused if it is none of Mattermost."""
    if not _ID.fullmatch(value):
        raise PlatformRefused(
            f"{name}: '{value[:60]}' is no id of Mattermost; it has 26 letters and digits", permanent=True
        )
    return value


def chat_type(channel_type: str) -> ChatType:
    """Returns whether a channel is private: direct messages with one user."""
    return "private" if channel_type == DIRECT else "group"


def user(payload: Payload) -> User:
    """Returns a user, with the nickname or the full name if there is one."""
    full_name = f"{text(payload, 'first_name')} {text(payload, 'last_name')}".strip()
    username = text(payload, "username")
    return User(
        id=identifier(payload.get("id")),
        nickname=text(payload, "nickname") or full_name or username,
        username=username or None,
        is_bot=payload.get("is_bot") is True,
    )


def group(channel: Payload) -> Group:
    return Group(
        id=identifier(channel.get("id")),
        name=text(channel, "display_name") or text(channel, "name"),
        description=text(channel, "purpose") or text(channel, "header") or None,
        owner_id=text(channel, "creator_id") or None,
    )


def role(member: Payload, person: Payload) -> MemberRole:
    """Returns the role in a channel. Administrators of the server count as administrators of its channels."""
    roles = f"{text(member, 'roles')} {text(person, 'roles')}".split()
    is_admin = member.get("scheme_admin") is True or any(each in ADMIN_ROLES for each in roles)
    return "admin" if is_admin else "member"


def member(payload: Payload, person: Payload, group_id: str) -> GroupMember:
    shown = user(person)
    return GroupMember(user=shown, group_id=group_id, role=role(payload, person), display_name=shown.nickname or None)
