"""The data of the simulated Telegram: users, chats, messages and files. Methods and transport are built on top."""

import itertools
from dataclasses import dataclass, field

from . import native
from .failures import Failed
from .native import Payload

LARGEST_DOWNLOAD = 20 * 1024 * 1024
LARGEST_UPLOAD = 50 * 1024 * 1024


@dataclass
class Chat:
    """Represents a chat. `about` is its object in messages."""

    about: Payload
    members: dict[int, Payload] = field(default_factory=dict)
    messages: dict[int, Payload] = field(default_factory=dict)
    pinned: list[int] = field(default_factory=list)
    topics: set[int] = field(default_factory=set)
    moved_to: int = 0
    """The supergroup that the group has become."""

    @property
    def id(self) -> int:
        return int(self.about["id"])


@dataclass
class StoredFile:
    data: bytes
    path: str
    size: int


@dataclass
class SentMessage:
    """Represents a message of the bot: its present state and all its texts."""

    chat_id: int
    message: Payload
    versions: list[str] = field(default_factory=list)
    deleted: bool = False

    @property
    def message_id(self) -> int:
        return int(self.message["message_id"])

    @property
    def text(self) -> str:
        return str(self.message.get("text") or self.message.get("caption") or "")

    @property
    def thread(self) -> int:
        return int(self.message.get("message_thread_id") or 0)

    @property
    def buttons(self) -> list[Payload]:
        rows = (self.message.get("reply_markup") or {}).get("inline_keyboard") or []
        return [button for row in rows for button in row]


class World:
    def __init__(self, bot_id: int = 777000111, username: str = "parlour_test_bot") -> None:
        self.bot = native.user(bot_id, "Parlour", is_bot=True, username=username)
        self.chats: dict[int, Chat] = {}
        self.people: dict[int, Payload] = {}
        self.blocked: set[int] = set()
        self.files: dict[str, StoredFile] = {}
        self.web: dict[str, bytes] = {}
        """Contents of the addresses that Telegram is asked to fetch."""
        self.sent: list[SentMessage] = []
        self.drafts: list[Payload] = []
        self.reactions: dict[tuple[int, int], list[Payload]] = {}
        self.typing: list[Payload] = []
        self.answered_queries: list[Payload] = []
        self.queries: set[str] = set()
        self.has_drafts = True
        self._numbers = itertools.count(1)

    @property
    def bot_id(self) -> int:
        return int(self.bot["id"])

    def number(self) -> int:
        return next(self._numbers)

    # --- preparation by tests

    def person(self, user_id: int, name: str = "", **fields: object) -> Payload:
        if user_id not in self.people:
            self.people[user_id] = native.user(user_id, name, **fields)
            self.chats[user_id] = Chat(native.private(user_id, name))
        return self.people[user_id]

    def add_group(self, chat_id: int, title: str = "the group", bot_status: str = "member", **fields: object) -> Chat:
        chat = self.chats[chat_id] = Chat(native.group(chat_id, title, **fields))
        self.add_member(chat_id, self.bot_id, bot_status)
        return chat

    def add_member(self, chat_id: int, user_id: int, status: str = "member", **fields: object) -> Payload:
        user = self.bot if user_id == self.bot_id else self.person(user_id)
        member = self.chats[chat_id].members[user_id] = native.member(user, status, **fields)
        return member

    def add_file(self, data: bytes, name: str = "file.bin", file_id: str = "", size: int | None = None) -> str:
        file_id = file_id or f"file-{self.number()}"
        self.files[file_id] = StoredFile(data, f"documents/{file_id}_{name}", len(data) if size is None else size)
        return file_id

    def migrate(self, old: int, new: int) -> None:
        """Turns the group into a supergroup with another id."""
        chat = self.chats[old]
        self.chats[new] = Chat({**chat.about, "id": new, "type": "supergroup"}, chat.members)
        chat.moved_to = new

    # --- parts that methods use

    def chat(self, chat_id: object, writing: bool = False) -> Chat:
        """Raises Failed with Telegram's text if the bot can't use the chat."""
        if isinstance(chat_id, str) and chat_id.lstrip("-").isdecimal():
            chat_id = int(chat_id)
        by_username = [
            each for each in self.chats.values() if each.about.get("username") == str(chat_id).removeprefix("@")
        ]
        chat = self.chats.get(chat_id) if isinstance(chat_id, int) else next(iter(by_username), None)
        if chat is None:
            raise Failed(400, "Bad Request: chat not found")
        if chat.moved_to:
            description = "Bad Request: group chat was upgraded to a supergroup chat"
            raise Failed(400, description, {"migrate_to_chat_id": chat.moved_to})
        if writing:
            self._check_writing(chat)
        return chat

    def _check_writing(self, chat: Chat) -> None:
        if chat.id in self.blocked:
            raise Failed(403, "Forbidden: bot was blocked by the user")
        if chat.about["type"] == "private":
            return
        bot_status = chat.members.get(self.bot_id, {}).get("status", "left")
        if bot_status == "kicked":
            raise Failed(403, "Forbidden: bot was kicked from the supergroup chat")
        if bot_status == "left":
            raise Failed(403, "Forbidden: bot is not a member of the supergroup chat")
        if bot_status == "restricted" and not chat.members[self.bot_id].get("can_send_messages"):
            raise Failed(400, "Bad Request: not enough rights to send text messages to the chat")

    def check_leading(self, chat: Chat, right: str) -> None:
        if chat.members.get(self.bot_id, {}).get("status") not in ("administrator", "creator"):
            raise Failed(400, f"Bad Request: not enough rights to {right}")

    def message(self, chat: Chat, message_id: object, what: str) -> Payload:
        existing = chat.messages.get(message_id) if isinstance(message_id, int) else None
        if existing is None:
            raise Failed(400, f"Bad Request: message to {what} not found")
        return existing

    def show(self, chat: Chat, content: Payload) -> Payload:
        """Creates a message of the bot."""
        message: Payload = {
            "message_id": self.number(),
            "from": self.bot,
            "chat": chat.about,
            "date": native.now(),
            **content,
        }
        chat.messages[message["message_id"]] = message
        record = SentMessage(chat.id, message)
        record.versions.append(record.text)
        self.sent.append(record)
        return message

    def shown(self, chat_id: int, message_id: int) -> SentMessage:
        return next(each for each in self.sent if (each.chat_id, each.message_id) == (chat_id, message_id))
