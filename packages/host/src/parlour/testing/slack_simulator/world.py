"""The users, channels, messages and files of a simulated Slack workspace."""

import itertools
import time
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

BOT_USER, BOT_ID, TEAM, APP = "U0BOT", "B0BOT", "T0TEAM", "A0APP"


class SlackRefusal(Exception):
    """An error answer of the Web API."""

    def __init__(self, error: str, retry_after: float | None = None, **fields: Any) -> None:
        super().__init__(error)
        self.error = error
        self.retry_after = retry_after
        self.fields = fields

    def body(self) -> Json:
        return {"ok": False, "error": self.error, **self.fields}


@dataclass
class SentSlackMessage:
    """A message of the bot, with the texts that it has had."""

    payload: Json
    chat: str
    versions: list[str] = field(default_factory=list)
    deleted: bool = False
    files: list[bytes] = field(default_factory=list)

    @property
    def text(self) -> str:
        return str(self.payload["text"]).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


class SlackWorld:
    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.users: dict[str, Json] = {}
        self.channels: dict[str, Json] = {}
        self.members: dict[str, list[str]] = {}
        self.messages: dict[tuple[str, str], Json] = {}
        """Messages by channel and time."""
        self.sent: list[SentSlackMessage] = []
        self.files: dict[str, bytes] = {}
        self.names: dict[str, str] = {}
        """Names of files."""
        self.reactions: set[tuple[str, str, str]] = set()
        """Time of the message, name and user."""
        self.add_user("Parlour", BOT_USER, is_bot=True)

    def number(self) -> int:
        return next(self._numbers)

    def time(self) -> str:
        """Returns a time that names a new message."""
        return f"{int(time.time())}.{self.number():06}"

    def add_user(self, name: str, user_id: str = "", is_bot: bool = False, **fields: Any) -> Json:
        user_id = user_id or f"U{self.number():08}"
        profile = {"display_name": name, "real_name": name, "image_192": "", "title": ""}
        user = {
            "id": user_id, "team_id": TEAM, "name": name.lower().replace(" ", ""), "real_name": name, "is_bot": is_bot,
            "is_admin": False, "is_owner": False, "deleted": False, "locale": "en-US", "profile": profile, **fields,
        }  # fmt: skip
        return self.users.setdefault(user_id, user)

    def add_channel(self, name: str, *users: str, channel_id: str = "", **fields: Any) -> Json:
        channel_id = channel_id or f"C{self.number():08}"
        channel = {
            "id": channel_id, "name": name, "is_channel": True, "is_im": False, "is_mpim": False, "is_private": False,
            "is_archived": False, "is_member": True, "creator": users[0] if users else BOT_USER,
            "purpose": {"value": ""}, **fields,
        }  # fmt: skip
        self.channels[channel_id] = channel
        self.members[channel_id] = [BOT_USER, *users]
        return channel

    def direct_channel(self, user_id: str) -> str:
        """Returns the channel of direct messages with a user."""
        if user_id not in self.users:
            raise SlackRefusal("user_not_found")
        if self.users[user_id]["is_bot"]:
            raise SlackRefusal("cannot_dm_bot")
        channel_id = f"D{user_id[1:]}"
        if channel_id not in self.channels:
            self.channels[channel_id] = {"id": channel_id, "is_im": True, "user": user_id, "is_archived": False}
            self.members[channel_id] = [BOT_USER, user_id]
        return channel_id

    def channel(self, channel_id: str) -> Json:
        if channel_id not in self.channels:
            raise SlackRefusal("channel_not_found")
        return self.channels[channel_id]

    def kind(self, channel_id: str) -> str:
        return "im" if channel_id.startswith("D") else "channel"

    def write(self, channel_id: str, user_id: str, text: str, **fields: Any) -> Json:
        """Adds a message to a channel and returns it, as Slack reports it."""
        moment = self.time()
        message: Json = {
            "type": "message", "channel": channel_id, "user": user_id, "text": text, "ts": moment, "event_ts": moment,
            "team": TEAM, "channel_type": self.kind(channel_id), **fields,
        }  # fmt: skip
        if user_id == BOT_USER:
            message |= {"bot_id": BOT_ID, "app_id": APP}
        self.messages[channel_id, moment] = message
        return message

    def message(self, channel_id: str, moment: str) -> Json:
        self.channel(channel_id)
        if (channel_id, moment) not in self.messages:
            raise SlackRefusal("message_not_found")
        return self.messages[channel_id, moment]

    def sent_message(self, moment: str) -> SentSlackMessage | None:
        return next((each for each in self.sent if each.payload["ts"] == moment), None)
