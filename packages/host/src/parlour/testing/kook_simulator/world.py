"""The users, servers, channels and messages of a simulated KOOK."""

import itertools
import json
import time
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
BOT_ID = "3970000"


class KookRefusal(Exception):
    """An error answer of the HTTP API."""

    def __init__(self, code: int, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retry_after = retry_after


@dataclass
class SentKookMessage:
    """A message of the bot, with the contents that it has had."""

    payload: Json
    chat: str
    versions: list[str] = field(default_factory=list)
    deleted: bool = False

    @property
    def text(self) -> str:
        """The text as users read it: that of its sections, if it is a card."""
        content = str(self.payload["content"])
        if self.payload["type"] != 10:
            return content.replace("\\(", "(")
        modules = [module for card in json.loads(content) for module in card.get("modules", ())]
        shown = [str(each.get("text", {}).get("content", "")) for each in modules if each.get("type") == "section"]
        return "\n".join(shown).replace("\\(", "(")

    @property
    def buttons(self) -> list[Json]:
        if self.payload["type"] != 10:
            return []
        modules = [module for card in json.loads(self.payload["content"]) for module in card.get("modules", ())]
        return [each for module in modules if module["type"] == "action-group" for each in module["elements"]]


class KookWorld:
    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.users: dict[str, Json] = {}
        self.guilds: dict[str, Json] = {}
        self.members: dict[str, dict[str, list[int]]] = {}
        """Roles of the members of each server."""
        self.channels: dict[str, Json] = {}
        self.messages: dict[str, Json] = {}
        self.sent: list[SentKookMessage] = []
        self.reactions: set[tuple[str, str]] = set()
        self.assets: dict[str, bytes] = {}
        self.bot = self.add_user("Parlour", BOT_ID, is_bot=True)

    def number(self) -> int:
        return next(self._numbers)

    def add_user(self, name: str, user_id: str = "", is_bot: bool = False) -> Json:
        user_id = user_id or str(2_000_000 + self.number())
        user = {
            "id": user_id, "username": name, "identify_num": "1234", "online": True, "bot": is_bot, "status": 1,
            "avatar": "", "nickname": name, "roles": [],
        }  # fmt: skip
        return self.users.setdefault(user_id, user)

    def add_guild(self, name: str, guild_id: str, owner_id: str, *member_ids: str) -> Json:
        role = {"role_id": 702, "name": "Moderators", "permissions": 1}
        guild = {
            "id": guild_id, "name": name, "topic": "", "user_id": owner_id, "icon": "", "roles": [role], "channels": [],
        }  # fmt: skip
        self.guilds[guild_id] = guild
        self.members[guild_id] = {each: [] for each in (BOT_ID, owner_id, *member_ids)}
        return guild

    def add_channel(self, guild_id: str, name: str, channel_id: str = "") -> Json:
        channel_id = channel_id or str(6_000_000 + self.number())
        channel = {"id": channel_id, "guild_id": guild_id, "name": name, "topic": "", "type": 1, "user_id": BOT_ID}
        self.channels[channel_id] = channel
        return channel

    def member(self, guild_id: str, user_id: str) -> Json:
        if user_id not in self.members.get(guild_id, {}):
            raise KookRefusal(40400, "用户不存在")
        return {**self.users[user_id], "roles": self.members[guild_id][user_id], "joined_at": 1_700_000_000_000}

    def find(self, kind: dict[str, Json], entity_id: Any) -> Json:
        if str(entity_id) not in kind:
            raise KookRefusal(40400, "资源不存在")
        return kind[str(entity_id)]

    def write(self, chat_type: str, chat_id: str, author_id: str, kind: int, content: str, **fields: Any) -> Json:
        """Adds a message to a channel (GROUP) or to the direct messages with a user (PERSON)."""
        moment = round(time.time() * 1000)
        message: Json = {
            "id": f"message-{self.number()}", "type": kind, "content": content, "author_id": author_id, "chat": chat_id,
            "chat_type": chat_type, "create_at": moment, "nonce": "", **fields,
        }  # fmt: skip
        self.messages[message["id"]] = message
        return message

    def event(self, message: Json) -> Json:
        """Returns a message in the form in which the gateway reports it."""
        author = dict(self.users[message["author_id"]])
        extra: Json = {
            "type": message["type"], "author": author, "mention": message.get("mention", []), "mention_all": False,
            "mention_roles": [], "mention_here": False,
            "kmarkdown": {"raw_content": message["content"], "mention_part": message.get("mention_part", [])},
        }  # fmt: skip
        extra |= {name: message[name] for name in ("quote", "attachments") if name in message}
        target = message["chat"]
        if message["chat_type"] == "GROUP":
            guild_id = self.channels[target]["guild_id"]
            extra |= {"guild_id": guild_id, "channel_name": self.channels[target]["name"]}
            extra["author"]["roles"] = self.members[guild_id].get(message["author_id"], [])
        else:
            extra["code"] = f"code-{target}"
            target = BOT_ID
        return {
            "channel_type": message["chat_type"], "type": message["type"], "target_id": target,
            "author_id": message["author_id"], "content": message["content"], "msg_id": message["id"],
            "msg_timestamp": message["create_at"], "nonce": message["nonce"], "from_type": 1, "extra": extra,
        }  # fmt: skip

    def system_event(self, kind: str, body: Json, target_id: str) -> Json:
        number = self.number()
        return {
            "channel_type": "GROUP", "type": 255, "target_id": target_id, "author_id": "1", "content": "[系统消息]",
            "msg_id": f"system-{number}", "msg_timestamp": round(time.time() * 1000), "nonce": "",
            "extra": {"type": kind, "body": body},
        }  # fmt: skip

    def sent_message(self, message_id: str) -> SentKookMessage | None:
        return next((each for each in self.sent if each.payload["id"] == message_id), None)
