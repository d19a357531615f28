"""Remembers the servers, channels and voice channels of one bot, as the gateway and the REST API report them."""

import asyncio
from dataclasses import field
from typing import Any

from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.payloads import Payload, identifier, number, object_in, objects_in, text, texts_in
from parlour_sdk.protocol.people import MemberRole
from parlour_sdk.values import dataclass

from .entities import ADMINISTRATOR, MANAGE_GUILD

THREAD_TYPES = (10, 11, 12)
TEXT_CHANNEL = 0
_SHOWN_FIELDS = {"name": "name", "icon": "avatar_url", "description": "description", "owner_id": "owner_id"}
"""Fields of a server whose change is reported, and the fields of `Group` that they become."""
_CHANNEL_FIELDS = {"name": "name", "topic": "description"}


@dataclass(slots=True)
class KnownGuild:
    """A server with its roles, by id."""

    payload: Payload
    roles: dict[str, Payload] = field(default_factory=dict)
    voice: dict[str, Payload] = field(default_factory=dict)
    """Voice states by user."""
    muted_until: str = ""
    """Until when the bot itself may not write."""


class DiscordGuilds:
    """Servers and channels of one bot. The gateway calls `update` for each event, in order."""

    def __init__(self) -> None:
        self._guilds: dict[str, KnownGuild] = {}
        self._channels: BoundedMap[str, Payload] = BoundedMap(50_000)
        self._awaited: set[str] = set()
        """Servers that Discord announced and that are not invitations when they appear."""
        self._voice_changed = asyncio.Event()

    def begin_session(self, ready: Payload) -> None:
        """Starts from the servers of a new session, which are reported next."""
        self._guilds.clear()
        self._awaited = {text(each, "id") for each in objects_in(ready, "guilds")}

    def update(self, kind: str, data: Payload, own_id: str) -> list[str] | None:
        """Applies an event. Returns what it changed: fields of a group, or None if the event reports nothing new."""
        match kind:
            case "GUILD_CREATE":
                return self._add_guild(data)
            case "GUILD_DELETE" if data.get("unavailable") is True:
                self._awaited.add(identifier(data.get("id")))
                return None
            case "GUILD_DELETE":
                self._guilds.pop(identifier(data.get("id")), None)
            case "GUILD_UPDATE":
                return self._update_guild(data)
            case "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE":
                return self.add_channel(data)
            case "CHANNEL_DELETE" | "THREAD_DELETE":
                self._channels.pop(identifier(data.get("id")))
            case "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE":
                self._set_roles(text(data, "guild_id"), [object_in(data, "role")])
            case "GUILD_MEMBER_UPDATE" if text(object_in(data, "user"), "id") == own_id:
                return self._update_own_member(data)
            case "VOICE_STATE_UPDATE":
                self._set_voice(text(data, "guild_id"), data)
        return []

    def add_guild(self, guild: Payload) -> None:
        """Adds a server that was looked up."""
        guild_id = identifier(guild.get("id"))
        known = self._guilds.setdefault(guild_id, KnownGuild({}))
        known.payload = {name: guild.get(name) for name in ("id", "name", "system_channel_id", *_SHOWN_FIELDS)}
        self._set_roles(guild_id, objects_in(guild, "roles"))
        for channel in (*objects_in(guild, "channels"), *objects_in(guild, "threads")):
            self.add_channel({**channel, "guild_id": guild_id})

    def add_channel(self, channel: Payload) -> list[str]:
        """Adds a channel, and returns the fields that changed."""
        channel_id = identifier(channel.get("id"))
        before = self._channels.get(channel_id)
        kept = ("id", "guild_id", "parent_id", "type", "name", "topic")
        self._channels.set(channel_id, {name: channel.get(name) for name in kept})
        return _changed(before, channel, _CHANNEL_FIELDS)

    def guild(self, guild_id: str) -> KnownGuild | None:
        return self._guilds.get(guild_id)

    def channel(self, channel_id: str) -> Payload | None:
        return self._channels.get(channel_id)

    def place(self, channel_id: str) -> tuple[str, str]:
        """Returns chat and thread: the parent channel and the thread, or the channel and an empty text."""
        channel = self._channels.get(channel_id) or {}
        parent = text(channel, "parent_id")
        return (parent, channel_id) if parent and channel.get("type") in THREAD_TYPES else (channel_id, "")

    def writable_channel(self, guild_id: str) -> str:
        """Returns the channel for messages to a whole server: that for its own messages, or the first of texts."""
        guild = self._guilds.get(guild_id)
        system_channel = text(guild.payload, "system_channel_id") if guild is not None else ""
        return system_channel or next(
            (
                text(channel, "id")
                for channel in self._channels.values()
                if channel.get("guild_id") == guild_id and channel.get("type") == TEXT_CHANNEL
            ),
            "",
        )

    def name(self, guild_id: str) -> str:
        guild = self._guilds.get(guild_id)
        return text(guild.payload, "name") if guild is not None else ""

    def role_of(self, guild_id: str, user_id: str, role_ids: list[str]) -> MemberRole | None:
        """Returns the role of a member with these roles of the server; None if the server is not known."""
        guild = self._guilds.get(guild_id)
        if guild is None:
            return None
        if guild.payload.get("owner_id") == user_id:
            return "owner"
        masks = [_permissions(guild.roles.get(each, {})) for each in role_ids]
        return "admin" if any(mask & (ADMINISTRATOR | MANAGE_GUILD) for mask in masks) else "member"

    def is_role_of_bot(self, guild_id: str, role_id: str, bot_id: str) -> bool:
        """Returns whether this is the role that Discord made for the bot, by which users mention it too."""
        guild = self._guilds.get(guild_id)
        role = guild.roles.get(role_id, {}) if guild is not None else {}
        return text(object_in(role, "tags"), "bot_id") == bot_id

    def role_name(self, guild_id: str, role_id: str) -> str:
        guild = self._guilds.get(guild_id)
        return text(guild.roles.get(role_id, {}), "name") if guild is not None else ""

    # --- voice channels

    def voice_channel(self, guild_id: str, user_id: str) -> str:
        """Returns the voice channel that a user is in, or an empty text."""
        guild = self._guilds.get(guild_id)
        return text(guild.voice.get(user_id, {}), "channel_id") if guild is not None else ""

    def voice_users(self, channel_id: str) -> list[str]:
        users = [
            user
            for guild in self._guilds.values()
            for user, state in guild.voice.items()
            if state.get("channel_id") == channel_id
        ]
        return sorted(users)

    def voice_connections(self, user_id: str) -> list[tuple[str, str]]:
        """Returns the servers, each with the voice channel that this user is in."""
        return [
            (guild, self.voice_channel(guild, user_id)) for guild in self._guilds if self.voice_channel(guild, user_id)
        ]

    async def until_voice(self, guild_id: str, user_id: str, channel_id: str, seconds: float) -> bool:
        """Waits until a user is in this voice channel, or in none if it is empty. Returns False if it takes longer."""
        try:
            async with asyncio.timeout(seconds):
                while self.voice_channel(guild_id, user_id) != channel_id:
                    self._voice_changed.clear()
                    await self._voice_changed.wait()
        except TimeoutError:
            return False
        return True

    def _set_voice(self, guild_id: str, state: Payload) -> None:
        guild, user_id = self._guilds.get(guild_id), identifier(state.get("user_id"))
        if guild is None:
            return
        if state.get("channel_id"):
            guild.voice[user_id] = {"channel_id": text(state, "channel_id")}
        else:
            guild.voice.pop(user_id, None)
        self._voice_changed.set()

    # --- changes

    def _add_guild(self, guild: Payload) -> list[str] | None:
        """Returns None for a server that the bot was in before."""
        guild_id = identifier(guild.get("id"))
        is_new = guild_id not in self._awaited and guild_id not in self._guilds
        self._awaited.discard(guild_id)
        self.add_guild(guild)
        for state in objects_in(guild, "voice_states"):
            self._set_voice(guild_id, state)
        return [] if is_new else None

    def _update_guild(self, guild: Payload) -> list[str]:
        known = self._guilds.get(identifier(guild.get("id")))
        before = known.payload if known is not None else None
        self.add_guild(guild)
        return _changed(before, guild, _SHOWN_FIELDS)

    def _update_own_member(self, data: Payload) -> list[str]:
        """Returns `muted` if the bot may no longer write, or may write again."""
        guild = self._guilds.get(text(data, "guild_id"))
        if guild is None:
            return []
        before, guild.muted_until = guild.muted_until, text(data, "communication_disabled_until")
        return ["muted"] if bool(before) != bool(guild.muted_until) else []

    def _set_roles(self, guild_id: str, roles: list[Payload]) -> None:
        guild = self._guilds.get(guild_id)
        if guild is not None:
            kept = ("name", "permissions", "tags")
            guild.roles |= {text(role, "id"): {name: role.get(name) for name in kept} for role in roles}


def role_ids(member: Payload) -> list[str]:
    return texts_in(member, "roles")


def _permissions(role: Payload) -> int:
    mask = text(role, "permissions")
    return int(mask) if mask.isdecimal() else number(role.get("permissions")) or 0


def _changed(before: Payload | None, after: Payload, fields: dict[str, Any]) -> list[str]:
    if before is None:
        return []
    return [shown for name, shown in fields.items() if name in after and after[name] != before.get(name)]
