"""The users, servers, channels and messages of a simulated Discord."""

import itertools
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]
EPOCH_MILLISECONDS = 1_420_070_400_000
BOT_ID, APPLICATION_ID = "100000000000000001", "100000000000000002"
TEXT_CHANNEL, DIRECT, VOICE_CHANNEL, THREAD = 0, 1, 2, 11


class DiscordRefusal(Exception):
    """An error answer of the REST API."""

    def __init__(
        self, status: int, code: int, message: str, errors: Json | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.errors = errors
        self.retry_after = retry_after
        self.is_global = False

    def body(self) -> Json:
        if self.retry_after is not None:
            return {"message": self.message, "retry_after": self.retry_after, "global": self.is_global}
        return {"message": self.message, "code": self.code, **({"errors": self.errors} if self.errors else {})}


def invalid(field_name: str, code: str, message: str) -> DiscordRefusal:
    """Returns the refusal of a form with a wrong field."""
    errors: Json = {"_errors": [{"code": code, "message": message}]}
    for name in reversed(field_name.split(".")):
        errors = {name: errors}
    return DiscordRefusal(400, 50035, "Invalid Form Body", errors)


def not_found(code: int, message: str) -> DiscordRefusal:
    return DiscordRefusal(404, code, message)


@dataclass
class SentDiscordMessage:
    """A message of the bot, with the texts that it has had."""

    payload: Json
    versions: list[str] = field(default_factory=list)
    deleted: bool = False
    files: list[bytes] = field(default_factory=list)

    @property
    def text(self) -> str:
        return str(self.payload["content"])

    @property
    def chat(self) -> str:
        return str(self.payload["channel_id"])


@dataclass
class SimulatedGuild:
    payload: Json
    members: dict[str, Json] = field(default_factory=dict)
    bans: set[str] = field(default_factory=set)
    voice: dict[str, str] = field(default_factory=dict)
    """Voice channels by user."""


@dataclass
class SimulatedInteraction:
    """A pressed button or a command, for which Discord waits three seconds."""

    payload: Json
    pressed_at: float
    responses: list[Json] = field(default_factory=list)
    original_deleted: bool = False


def user_payload(user_id: str, name: str, is_bot: bool = False) -> Json:
    return {
        "id": user_id, "username": name.lower().replace(" ", "_"), "global_name": None if is_bot else name,
        "discriminator": "0", "avatar": None, **({"bot": True} if is_bot else {}),
    }  # fmt: skip


class DiscordWorld:
    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.bot = user_payload(BOT_ID, "Parlour", is_bot=True)
        self.users: dict[str, Json] = {BOT_ID: self.bot}
        self.guilds: dict[str, SimulatedGuild] = {}
        self.channels: dict[str, Json] = {}
        self.messages: dict[str, Json] = {}
        self.sent: list[SentDiscordMessage] = []
        self.files: dict[str, bytes] = {}
        self.reactions: set[tuple[str, str, str]] = set()
        """Message, emoji and user."""
        self.pins: list[str] = []
        self.typing: list[str] = []
        self.invites: list[Json] = []
        self.interactions: dict[str, SimulatedInteraction] = {}
        self.forbidden: set[str] = set()
        """Channels in which the bot lacks the permission to write."""
        self.closed_users: set[str] = set()
        """Users who accept no direct messages."""
        self.nonces: dict[tuple[str, str], str] = {}

    def id(self) -> str:
        """Returns a new id, which contains the time."""
        return str(((round(time.time() * 1000) - EPOCH_MILLISECONDS) << 22) | next(self._numbers))

    # --- people and places

    def add_user(self, name: str = "", user_id: str = "") -> Json:
        user_id = user_id or self.id()
        return self.users.setdefault(user_id, user_payload(user_id, name or f"user {user_id}"))

    def add_guild(self, name: str = "The Guild", guild_id: str = "") -> SimulatedGuild:
        """Creates a server with the bot and one text channel."""
        guild_id = guild_id or self.id()
        bot_role = {"id": self.id(), "name": "Parlour", "permissions": "2048", "tags": {"bot_id": BOT_ID}}
        payload = {
            "id": guild_id, "name": name, "icon": None, "description": None, "owner_id": self.id(), "features": [],
            "system_channel_id": None, "roles": [{"id": guild_id, "name": "@everyone", "permissions": "0"}, bot_role],
            "emojis": [], "stickers": [], "verification_level": 0, "default_message_notifications": 0,
            "explicit_content_filter": 0, "mfa_level": 0, "nsfw_level": 0, "premium_tier": 0, "afk_timeout": 300,
            "afk_channel_id": None, "preferred_locale": "en-US",
        }  # fmt: skip
        guild = self.guilds[guild_id] = SimulatedGuild(payload)
        self.add_member(guild_id, self.bot)
        payload["system_channel_id"] = self.add_channel(guild_id, "general")["id"]
        return guild

    def add_role(self, guild_id: str, name: str, permissions: int) -> Json:
        role = {"id": self.id(), "name": name, "permissions": str(permissions)}
        self.guilds[guild_id].payload["roles"].append(role)
        return role

    def add_member(self, guild_id: str, user: Json, *role_ids: str) -> Json:
        member = {
            "user": user, "nick": None, "roles": list(role_ids), "joined_at": "2025-01-01T00:00:00+00:00", "flags": 0,
            "deaf": False, "mute": False, "communication_disabled_until": None,
        }  # fmt: skip
        self.guilds[guild_id].members[user["id"]] = member
        return member

    def add_channel(
        self, guild_id: str, name: str, kind: int = TEXT_CHANNEL, parent_id: str | None = None, channel_id: str = ""
    ) -> Json:
        channel_id = channel_id or self.id()
        channel = {
            "id": channel_id, "guild_id": guild_id, "type": kind, "name": name, "topic": None, "parent_id": parent_id,
            "position": 0, "permission_overwrites": [], "nsfw": False,
        }  # fmt: skip
        if kind == THREAD:
            archive = {
                "archived": False,
                "auto_archive_duration": 1440,
                "archive_timestamp": iso_now(),
                "locked": False,
            }
            channel |= {"owner_id": BOT_ID, "thread_metadata": archive, "message_count": 0, "member_count": 1}
        self.channels[channel_id] = channel
        return channel

    def direct_channel(self, user_id: str) -> Json:
        """Returns the channel of direct messages with a user."""
        if user_id not in self.users or user_id == BOT_ID:
            raise DiscordRefusal(400, 50033, "Invalid Recipient(s)")
        for channel in self.channels.values():
            if channel["type"] == DIRECT and channel["recipients"][0]["id"] == user_id:
                return channel
        channel_id = self.id()
        channel = {"id": channel_id, "type": DIRECT, "recipients": [self.users[user_id]], "last_message_id": None}
        self.channels[channel_id] = channel
        return channel

    def channel(self, channel_id: str) -> Json:
        if channel_id not in self.channels:
            raise not_found(10003, "Unknown Channel")
        return self.channels[channel_id]

    def guild(self, guild_id: str) -> SimulatedGuild:
        if guild_id not in self.guilds:
            raise not_found(10004, "Unknown Guild")
        return self.guilds[guild_id]

    def member(self, guild_id: str, user_id: str) -> Json:
        members = self.guild(guild_id).members
        if user_id not in members:
            raise not_found(10007, "Unknown Member")
        return members[user_id]

    def guild_create(self, guild_id: str) -> Json:
        """Returns a server as GUILD_CREATE reports it."""
        guild = self.guilds[guild_id]
        own = [each for each in self.channels.values() if each.get("guild_id") == guild_id]
        voice = [{"user_id": user, "channel_id": channel, "session_id": "v"} for user, channel in guild.voice.items()]
        return {
            **guild.payload, "joined_at": "2025-01-01T00:00:00+00:00", "large": False, "unavailable": False,
            "member_count": len(guild.members), "members": list(guild.members.values()), "presences": [],
            "channels": [each for each in own if each["type"] != THREAD], "stage_instances": [],
            "threads": [each for each in own if each["type"] == THREAD], "voice_states": voice,
            "guild_scheduled_events": [], "soundboard_sounds": [],
        }  # fmt: skip

    # --- messages

    def message(self, channel_id: str, message_id: str) -> Json:
        message = self.messages.get(message_id)
        if message is None or message["channel_id"] != channel_id:
            raise not_found(10008, "Unknown Message")
        return message

    def write(self, channel_id: str, author: Json, content: str, **fields: Any) -> Json:
        """Adds a message to a channel and returns it, as Discord reports it."""
        channel = self.channel(channel_id)
        message: Json = {
            "id": self.id(), "type": 0, "channel_id": channel_id, "author": author, "content": content,
            "timestamp": iso_now(), "edited_timestamp": None, "mention_everyone": False, "mentions": [],
            "mention_roles": [], "attachments": [], "embeds": [], "pinned": False, "flags": 0, "tts": False,
            "components": [], **fields,
        }  # fmt: skip
        if guild_id := channel.get("guild_id"):
            member = self.guilds[guild_id].members.get(author["id"], {})
            message["guild_id"] = guild_id
            message["member"] = {name: each for name, each in member.items() if name != "user"}
        self.messages[message["id"]] = message
        return message

    def sent_message(self, message_id: str) -> SentDiscordMessage | None:
        return next((each for each in self.sent if each.payload["id"] == message_id), None)


def iso_now() -> str:
    return datetime.now(UTC).isoformat()
