"""Converts users, servers and members of Discord into common entities, and ids into times and addresses."""

from datetime import datetime
from typing import Any

from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.ids import compose_id, split_id
from parlour.platforms._kit.payloads import Payload, identifier, number, object_in, text
from parlour_sdk.protocol.people import Group, GroupMember, MemberRole, User
from parlour_sdk.values import dataclass

NAME = "discord"
SERVICE = "Discord"
EPOCH_MILLISECONDS = 1_420_070_400_000
"""The time from which snowflakes count."""
AVATARS = "https://cdn.discordapp.com/avatars"
ICONS = "https://cdn.discordapp.com/icons"
ADMINISTRATOR, MANAGE_GUILD = 1 << 3, 1 << 5
"""Permissions of a member who counts as administrator."""


@dataclass(frozen=True, slots=True)
class DiscordAccount:
    """The bot's own account."""

    id: str
    application_id: str = ""


def snowflake_milliseconds(value: Any) -> int:
    """Returns the time at which an id was made. Raises ValueError if it is none."""
    return (int(identifier(value)) >> 22) + EPOCH_MILLISECONDS


def time_milliseconds(value: Any) -> int:
    """Returns a time of Discord in milliseconds. Raises ValueError if it is none."""
    if not isinstance(value, str):
        raise ValueError("a time is a text")
    return round(datetime.fromisoformat(value).timestamp() * 1000)


def snowflake(name: str, value: str) -> str:
    """Checks an id before it becomes a part of an address. Raises PlatformRefused."""
    if not value.isdecimal() or not value.isascii() or len(value) > 20:
        reason = f"{name}: '{value[:60]}' is no id of Discord; a whole number is expected"
        raise PlatformRefused(reason, permanent=True)
    return value


def message_id(channel_id: str, native_id: str, thread_id: str) -> str:
    """Returns the id of a message. That of a message in a thread names the thread, which has its own address."""
    return compose_id(channel_id, native_id) if thread_id else native_id


def message_place(chat_id: str, message: str) -> tuple[str, str]:
    """Returns the channel or thread and the native id of a message. Raises PlatformRefused."""
    if "|" not in message:
        return snowflake("chat_id", chat_id), snowflake("message_id", message)
    try:
        channel_id, native_id = split_id(message, 2)
    except ValueError as error:
        raise PlatformRefused(f"message_id: {error}", permanent=True) from None
    return snowflake("message_id", channel_id), snowflake("message_id", native_id)


def user(payload: Payload, member: Payload | None = None, is_bot: bool = False) -> User:
    """Returns a user, with the name that is shown in the server if the member is given."""
    user_id, avatar = identifier(payload.get("id")), text(payload, "avatar")
    names = (text(member or {}, "nick"), text(payload, "global_name"), text(payload, "username"))
    return User(
        id=user_id,
        nickname=next(filter(None, names), ""),
        username=text(payload, "username") or None,
        avatar_url=f"{AVATARS}/{user_id}/{avatar}.png" if avatar else None,
        is_bot=is_bot or payload.get("bot") is True,
    )


def guild_group(guild: Payload) -> Group:
    guild_id, icon = identifier(guild.get("id")), text(guild, "icon")
    return Group(
        id=guild_id,
        name=text(guild, "name"),
        description=text(guild, "description") or None,
        member_count=number(guild.get("approximate_member_count")) or number(guild.get("member_count")),
        avatar_url=f"{ICONS}/{guild_id}/{icon}.png" if icon else None,
        owner_id=text(guild, "owner_id") or None,
    )


def channel_group(channel: Payload) -> Group:
    return Group(
        id=identifier(channel.get("id")), name=text(channel, "name"), description=text(channel, "topic") or None
    )


def member(payload: Payload, group_id: str, role: MemberRole) -> GroupMember:
    joined_at = payload.get("joined_at")
    return GroupMember(
        user=user(object_in(payload, "user"), payload),
        group_id=group_id,
        role=role,
        display_name=text(payload, "nick") or None,
        joined_at=time_milliseconds(joined_at) if isinstance(joined_at, str) else None,
    )
