"""Converts users, groups and members of OneBot responses into common entities."""

from typing import Any

from parlour.core.platforms.port import PlatformRefused
from parlour_sdk.protocol.people import Group, GroupMember, MemberRole, User

from .values import identifier, number, text

Payload = dict[str, Any]
_ROLES: dict[str | None, MemberRole] = {"owner": "owner", "admin": "admin"}


def user(told: Any) -> User:
    told = object_of(told)
    return User(
        id=_id(told, "user_id"),
        nickname=text(told, "nickname") or "",
        remark=text(told, "remark"),
        is_bot=is_bot(told),
    )


def is_bot(told: Payload) -> bool:
    """Returns whether the user is a bot.

    OneBot has no field for it; NapCat and Lagrange use is_robot, others is_bot.
    """
    return told.get("is_robot") is True or told.get("is_bot") is True


def group(told: Any) -> Group:
    told = object_of(told)
    count = number(told.get("member_count"))
    return Group(id=_id(told, "group_id"), name=text(told, "group_name") or "", member_count=count)


def member(told: Any, group_id: str) -> GroupMember:
    told = object_of(told)
    joined = number(told.get("join_time"))
    return GroupMember(
        user=user(told),
        group_id=group_id,
        role=_ROLES.get(text(told, "role"), "member"),
        display_name=text(told, "card"),
        joined_at=joined * 1000 if joined else None,
        title=text(told, "title"),
    )


def object_of(answer: Any) -> Payload:
    if not isinstance(answer, dict):
        raise PlatformRefused("OneBot answered with something else than an object", permanent=True)
    return answer


def list_of(answer: Any) -> list[Any]:
    if not isinstance(answer, list):
        raise PlatformRefused("OneBot answered with something else than a list", permanent=True)
    return answer


def _id(told: Payload, name: str) -> str:
    try:
        return identifier(told.get(name))
    except ValueError:
        raise PlatformRefused(f"OneBot's answer has no {name}", permanent=True) from None
