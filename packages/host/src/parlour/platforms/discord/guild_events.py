"""Converts events about servers, their members and channels into common events."""

from datetime import UTC, datetime
from typing import Any

from parlour.platforms._kit.payloads import Payload, identifier, object_in, text
from parlour_sdk.protocol.people import Group, GroupMember
from parlour_sdk.protocol.platform_events import (
    BotInvited,
    BotMuted,
    BotRemoved,
    BotUnmuted,
    GroupInfoUpdated,
    MemberBanned,
    MemberJoined,
    MemberLeft,
    MemberUnbanned,
    PlatformEvent,
)

from . import entities
from .entities import DiscordAccount
from .guilds import DiscordGuilds, role_ids

MEMBER_EVENTS = {
    "GUILD_MEMBER_ADD": MemberJoined,
    "GUILD_MEMBER_REMOVE": MemberLeft,
    "GUILD_BAN_ADD": MemberBanned,
    "GUILD_BAN_REMOVE": MemberUnbanned,
}


def events(
    kind: str, data: Payload, changed: list[str], fields: dict[str, Any], guilds: DiscordGuilds, me: DiscordAccount
) -> list[PlatformEvent] | None:
    """Returns the common events of an event; None if it has no common form."""
    if kind in MEMBER_EVENTS:
        if text(object_in(data, "user"), "id") == me.id:
            return []  # the bot's own membership is reported with the server
        return [MEMBER_EVENTS[kind](group=_group(data, guilds), member=_member(data, guilds), **fields)]
    match kind:
        case "GUILD_CREATE":
            return [BotInvited(group=entities.guild_group(data), **fields)]
        case "GUILD_DELETE":
            guild_id = identifier(data.get("id"))
            return [BotRemoved(group=Group(id=guild_id, name=guilds.name(guild_id)), **fields)]
        case "GUILD_UPDATE" if changed:
            return [GroupInfoUpdated(group=entities.guild_group(data), changed_fields=changed, **fields)]
        case "CHANNEL_UPDATE" if changed:
            return [GroupInfoUpdated(group=entities.channel_group(data), changed_fields=changed, **fields)]
        case "GUILD_MEMBER_UPDATE" if changed:
            until = text(data, "communication_disabled_until")
            if not until:
                return [BotUnmuted(group=_group(data, guilds), **fields)]
            return [BotMuted(group=_group(data, guilds), duration=_seconds_until(until), **fields)]
    return None


def _group(data: Payload, guilds: DiscordGuilds) -> Group:
    guild_id = identifier(data.get("guild_id"))
    return Group(id=guild_id, name=guilds.name(guild_id))


def _member(data: Payload, guilds: DiscordGuilds) -> GroupMember:
    guild_id = identifier(data.get("guild_id"))
    user_id = identifier(object_in(data, "user").get("id"))
    return entities.member(data, guild_id, guilds.role_of(guild_id, user_id, role_ids(data)) or "member")


def _seconds_until(moment: str) -> int:
    return max(0, round((datetime.fromisoformat(moment) - datetime.now(UTC)).total_seconds()))
