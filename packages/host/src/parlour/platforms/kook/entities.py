"""Converts users, channels and servers of KOOK into common entities."""

from typing import Any

from parlour.platforms._kit.payloads import Payload, identifier, number, text
from parlour_sdk.protocol.people import Group, GroupMember, MemberRole, User
from parlour_sdk.values import dataclass

NAME = "kook"
SERVICE = "KOOK"
ADMINISTRATOR = 1
"""Permission of roles that count as administrator."""


@dataclass(frozen=True, slots=True)
class KookAccount:
    """The bot's own account."""

    id: str


def time_milliseconds(value: Any) -> int:
    """Returns a time in milliseconds. Raises ValueError if it is none."""
    moment = number(value)
    if moment is None or moment > 10**14:
        raise ValueError("a time is a number of milliseconds")
    return moment


def user(payload: Payload) -> User:
    """Returns a user, with the name that is shown in the server if the platform sends it."""
    return User(
        id=identifier(payload.get("id")),
        nickname=text(payload, "nickname") or text(payload, "username"),
        username=text(payload, "username") or None,
        avatar_url=text(payload, "avatar") or None,
        is_bot=payload.get("bot") is True,
    )


def channel_group(channel: Payload) -> Group:
    return Group(
        id=identifier(channel.get("id")),
        name=text(channel, "name"),
        description=text(channel, "topic") or None,
        owner_id=text(channel, "user_id") or None,
    )


def guild_group(guild: Payload) -> Group:
    return Group(
        id=identifier(guild.get("id")),
        name=text(guild, "name"),
        description=text(guild, "topic") or None,
        member_count=number(guild.get("user_count")),
        avatar_url=text(guild, "icon") or None,
        owner_id=text(guild, "user_id") or text(guild, "master_id") or None,
    )


def role(user_id: str, role_ids: list[Any], guild: Payload) -> MemberRole:
    """Returns the role of a member: the server's owner, a role with administration, or none of both."""
    if user_id and user_id in (text(guild, "user_id"), text(guild, "master_id")):
        return "owner"
    roles = guild.get("roles")
    known = {each.get("role_id"): each for each in roles if isinstance(each, dict)} if isinstance(roles, list) else {}
    masks = [number(known.get(each, {}).get("permissions")) or 0 for each in role_ids if isinstance(each, int)]
    return "admin" if any(mask & ADMINISTRATOR for mask in masks) else "member"


def member(payload: Payload, group_id: str, guild: Payload) -> GroupMember:
    role_ids = payload.get("roles")
    person = user(payload)
    joined_at = payload.get("joined_at")
    return GroupMember(
        user=person,
        group_id=group_id,
        role=role(person.id, role_ids if isinstance(role_ids, list) else [], guild),
        display_name=text(payload, "nickname") or None,
        joined_at=number(joined_at),
    )
