"""Converts users and members of a homeserver's responses into common entities."""

from parlour_sdk.protocol.people import GroupMember, User

from .rooms import MatrixRoom, local_part
from .values import Payload, text


def profile(user_id: str, told: Payload) -> User:
    avatar = text(told, "avatar_url") or None
    name = text(told, "displayname") or local_part(user_id)
    return User(id=user_id, nickname=name, username=user_id, avatar_url=avatar)


def member(room: MatrixRoom, user_id: str, told: Payload) -> GroupMember:
    """Builds a group member. The specification uses both `display_name` and `displayname`."""
    named = {**told, "displayname": text(told, "displayname") or text(told, "display_name")}
    user, role = profile(user_id, named), room.role(user_id)
    return GroupMember(user=user, group_id=room.room_id, role=role, display_name=named["displayname"] or None)
