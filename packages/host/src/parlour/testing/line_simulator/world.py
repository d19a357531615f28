"""The users, groups, messages and contents of a simulated LINE."""

import itertools
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


def line_id(kind: str, number: int) -> str:
    """Returns an id in LINE's form: a letter and 32 hexadecimal digits."""
    return f"{kind}{number:032x}"


BOT_USER = line_id("U", 0xB07)


class LineRefusal(Exception):
    """An error answer of the Messaging API."""

    def __init__(self, status: int, message: str, *details: tuple[str, str], **fields: Any) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.details = details
        self.fields = fields

    def body(self) -> Json:
        details = [{"property": name, "message": problem} for name, problem in self.details]
        return {"message": self.message, **({"details": details} if details else {}), **self.fields}


@dataclass
class SentLineMessage:
    """A message of the bot."""

    payload: Json
    chat: str
    message_id: str
    is_reply: bool
    deleted: bool = False
    content: bytes = b""
    """What LINE fetched for a picture, a film or audio."""

    @property
    def text(self) -> str:
        """The text as a user reads it."""
        match self.payload["type"]:
            case "text":
                return str(self.payload["text"])
            case "textV2":
                return self._substituted()
            case "flex":
                body = self.payload["contents"].get("body", {}).get("contents", [{}])
                return str(body[0].get("text", self.payload["altText"]))
        return f"[{self.payload['type']}]"

    def _substituted(self) -> str:
        shown = str(self.payload["text"])
        for name, value in self.payload.get("substitution", {}).items():
            mentionee = value.get("mentionee", {})
            shown = shown.replace(f"{{{name}}}", "@All" if mentionee.get("type") == "all" else "@someone")
        return shown.replace("{{", "{").replace("}}", "}")


@dataclass
class LineChat:
    """A chat of the bot: one user, a group or a room."""

    id: str
    kind: str
    name: str = ""
    members: list[str] = field(default_factory=list)


class LineWorld:
    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.users: dict[str, Json] = {}
        self.chats: dict[str, LineChat] = {}
        self.sent: list[SentLineMessage] = []
        self.contents: dict[str, bytes] = {}
        """Contents of messages by id."""
        self.preparing: dict[str, int] = {}
        """How often LINE still answers that it prepares a content."""
        self.quote_tokens: dict[str, str] = {}
        """Ids of messages by quote token."""
        self.typing: list[str] = []

    def number(self) -> int:
        return next(self._numbers)

    def message_id(self) -> str:
        return str(461_230_966_842_000_000 + self.number())

    def quote_token(self, message_id: str) -> str:
        token = f"quote-{message_id}"
        self.quote_tokens[token] = message_id
        return token

    def add_user(self, name: str, user_id: str = "") -> str:
        """Adds a friend of the account, whose private chat has the same id."""
        user_id = user_id or line_id("U", self.number())
        picture = f"https://profile.line-scdn.net/{user_id}"
        self.users[user_id] = {"userId": user_id, "displayName": name, "pictureUrl": picture, "language": "en"}
        self.chats[user_id] = LineChat(user_id, "user", name, [user_id])
        return user_id

    def add_group(self, name: str, *users: str, group_id: str = "", kind: str = "group") -> str:
        group_id = group_id or line_id({"group": "C", "room": "R"}[kind], self.number())
        self.chats[group_id] = LineChat(group_id, kind, name, list(users))
        return group_id

    def chat(self, chat_id: str) -> LineChat:
        if chat_id not in self.chats:
            raise LineRefusal(404, "Not found")
        return self.chats[chat_id]

    def source(self, chat_id: str, user_id: str) -> Json:
        chat = self.chats[chat_id]
        if chat.kind == "user":
            return {"type": "user", "userId": chat_id}
        return {"type": chat.kind, f"{chat.kind}Id": chat_id, "userId": user_id}
