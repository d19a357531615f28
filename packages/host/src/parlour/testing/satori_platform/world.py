"""The users, channels, guilds and messages of the platform behind the Satori server."""

import itertools
import re
import time
from dataclasses import dataclass
from html import unescape
from typing import Any

Json = dict[str, Any]
PLATFORM = "chronocat"
BOT_ID = "10001"
_TAG = re.compile(r"<[^>]*>")


class SatoriRefusal(Exception):
    """A call that the platform refuses, with the status of its answer."""

    def __init__(self, status: int, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after


@dataclass
class SentSatoriMessage:
    """A message of the bot."""

    id: str
    channel: str
    content: str
    deleted: bool = False

    @property
    def text(self) -> str:
        """The text as a user reads it."""
        return unescape(_TAG.sub("", self.content))


class SatoriWorld:
    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.users: dict[str, Json] = {}
        self.guilds: dict[str, Json] = {}
        self.members: dict[str, dict[str, Json]] = {}
        self.channels: dict[str, Json] = {}
        self.messages: dict[str, Json] = {}
        self.sent: list[SentSatoriMessage] = []
        self.reactions: set[tuple[str, str]] = set()
        self.muted: dict[str, int] = {}
        self.friends: set[str] = set()
        self.answers: list[tuple[str, str, bool]] = []
        """Answers to requests: the method, the request, and whether it was approved."""

    def number(self) -> int:
        return next(self._numbers)

    def add_user(self, name: str, user_id: str = "") -> str:
        """Adds a user with a private chat, whose channel has another id than the user."""
        user_id = user_id or str(3000 + self.number())
        self.users[user_id] = {"id": user_id, "name": name.lower(), "nick": name, "is_bot": False}
        self.channels[self.direct(user_id)] = {"id": self.direct(user_id), "type": 1, "name": name}
        return user_id

    def direct(self, user_id: str) -> str:
        return f"private:{user_id}"

    def add_guild(self, name: str, guild_id: str, *users: str) -> None:
        self.guilds[guild_id] = {"id": guild_id, "name": name}
        self.members[guild_id] = {each: {"user": self.users[each], "nick": "", "roles": []} for each in users}

    def add_channel(self, guild_id: str, name: str, channel_id: str = "") -> str:
        channel_id = channel_id or str(7000 + self.number())
        self.channels[channel_id] = {"id": channel_id, "type": 0, "name": name, "parent_id": guild_id}
        return channel_id

    def channel(self, channel_id: str) -> Json:
        if channel_id not in self.channels:
            raise SatoriRefusal(404, f"channel {channel_id} not found")
        return self.channels[channel_id]

    def message(self, channel_id: str, message_id: str) -> Json:
        self.channel(channel_id)
        if message_id not in self.messages or self.messages[message_id]["channel"]["id"] != channel_id:
            raise SatoriRefusal(404, f"message {message_id} not found")
        return self.messages[message_id]

    def member(self, guild_id: str, user_id: str) -> Json:
        if user_id not in self.members.get(guild_id, {}):
            raise SatoriRefusal(404, f"member {user_id} of {guild_id} not found")
        return self.members[guild_id][user_id]

    def write(self, channel_id: str, user_id: str, content: str, **fields: Any) -> Json:
        """Stores a message and returns it."""
        message_id = f"m{self.number()}"
        author = self.users.get(user_id) or {"id": user_id, "name": "bot", "is_bot": True}
        message = {
            "id": message_id, "content": content, "channel": self.channel(channel_id), "user": author,
            "created_at": round(time.time() * 1000), **fields,
        }  # fmt: skip
        self.messages[message_id] = message
        if user_id == BOT_ID:
            self.sent.append(SentSatoriMessage(message_id, channel_id, content))
        return message

    def sent_message(self, message_id: str) -> SentSatoriMessage:
        return next(each for each in self.sent if each.id == message_id)
