"""The users, chats, messages, cards and files of a simulated Feishu."""

import itertools
import json
import re
import time
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

BOT, TENANT = "ou_bot", "tenant0"
_TAG = re.compile(r'<at (?:user_id="([^"]+)"|id=([^>]+))>([^<]*)</at>')


class LarkRefusal(Exception):
    """An error answer of the API."""

    def __init__(
        self, code: int, message: str = "refused", status: int = 400, retry_after: float | None = None
    ) -> None:
        super().__init__(f"{code} {message}")
        self.code = code
        self.message = message
        self.status = status
        self.retry_after = retry_after


@dataclass
class SentLarkMessage:
    """A message of the bot, with the texts that it has had."""

    payload: Json
    chat: str
    versions: list[str] = field(default_factory=list)
    deleted: bool = False
    file: bytes = b""
    card: Json = field(default_factory=dict)
    token: str = ""

    @property
    def text(self) -> str:
        return self.versions[-1]

    @property
    def id(self) -> str:
        return str(self.payload["message_id"])


@dataclass
class SimulatedCard:
    """A card as an entity, with the numbers of its changes."""

    id: str
    content: Json
    message_id: str = ""
    numbers: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    @property
    def is_streaming(self) -> bool:
        return self.content.get("config", {}).get("streaming_mode") is True


class LarkWorld:
    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.users: dict[str, Json] = {}
        self.chats: dict[str, Json] = {}
        self.members: dict[str, list[str]] = {}
        self.messages: dict[str, Json] = {}
        self.sent: list[SentLarkMessage] = []
        self.files: dict[str, tuple[str, bytes]] = {}
        """Names and contents by key."""
        self.reactions: dict[str, Json] = {}
        self.cards: dict[str, SimulatedCard] = {}

    def number(self) -> int:
        return next(self._numbers)

    def add_user(self, name: str, user_id: str = "") -> str:
        user_id = user_id or f"ou_{self.number():08}"
        self.users[user_id] = {"open_id": user_id, "union_id": f"on_{user_id[3:]}", "name": name, "avatar": {}}
        return user_id

    def add_chat(self, name: str, *users: str, chat_id: str = "", mode: str = "group") -> str:
        chat_id = chat_id or f"oc_{self.number():08}"
        owner = users[0] if users else ""
        self.chats[chat_id] = {"name": name, "chat_mode": mode, "owner_id": owner, "description": "", "avatar": ""}
        self.members[chat_id] = [BOT, *users]
        return chat_id

    def direct_chat(self, user_id: str) -> str:
        """Returns the chat of a user with the bot."""
        if user_id not in self.users:
            raise LarkRefusal(230013, "Bot has NO availability to this user.")
        chat_id = f"oc_p2p_{user_id[3:]}"
        if chat_id not in self.chats:
            self.add_chat("", user_id, chat_id=chat_id, mode="p2p")
        return chat_id

    def shown_chat(self, chat_id: str) -> str:
        """Returns a chat as the bot addresses it: a private one by its user."""
        return self.members[chat_id][1] if self.chats[chat_id]["chat_mode"] == "p2p" else chat_id

    def chat(self, chat_id: str) -> Json:
        if chat_id not in self.chats:
            raise LarkRefusal(232006, "Your request specifies a chat_id which is invalid")
        return self.chats[chat_id]

    def write(self, chat_id: str, sender: str, kind: str, content: Any, **fields: Any) -> Json:
        """Adds a message to a chat, as the API describes it."""
        moment = str(round(time.time() * 1000))
        body = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        message = {
            "message_id": f"om_{self.number():08}", "msg_type": kind, "create_time": moment, "update_time": moment,
            "chat_id": chat_id, "deleted": False, "updated": False, "body": {"content": body},
            "sender": {"id": sender, "id_type": "app_id" if sender == BOT else "open_id",
                       "sender_type": "app" if sender == BOT else "user", "tenant_key": TENANT}, **fields,
        }  # fmt: skip
        self.messages[message["message_id"]] = message
        return message

    def message(self, message_id: str) -> Json:
        if message_id not in self.messages:
            raise LarkRefusal(230001, "Your request contains an invalid request parameter, invalid message_id")
        if self.messages[message_id]["deleted"]:
            raise LarkRefusal(230110, "The message has been deleted")
        return self.messages[message_id]

    def sent_message(self, message_id: str) -> SentLarkMessage | None:
        return next((each for each in self.sent if each.id == message_id), None)


def shown_text(kind: str, content: Json) -> str:
    """Returns the text of a message as a user reads it."""
    if kind == "text":
        return _TAG.sub(_mention, content["text"])
    if kind == "post":
        [language] = content.values()
        rows = ["".join(each.get("text", "") for each in row) for row in language["content"]]
        return _TAG.sub(_mention, "\n".join(rows)).replace("&#60;", "<")
    if kind == "interactive":
        elements = content.get("body", {}).get("elements", [])
        texts = [each["content"] for each in elements if each.get("tag") == "markdown"]
        return _TAG.sub(_mention, "".join(texts)).replace("&#60;", "<")
    return ""


def _mention(match: re.Match[str]) -> str:
    return f"@{match[1] or match[2]}"
