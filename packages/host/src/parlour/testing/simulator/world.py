"""The users, chats and messages of a simulated platform, for simulators without a richer model of their own."""

import itertools
from dataclasses import dataclass, field
from typing import Any


@dataclass
class SimulatedUser:
    id: str
    name: str
    is_bot: bool = False


@dataclass
class SimulatedMessage:
    """Represents a message. `content` is in the platform's own form."""

    id: str
    chat: str
    sender: str
    text: str
    content: dict[str, Any] = field(default_factory=dict)
    versions: list[str] = field(default_factory=list)
    """All texts that it has had, the present one last."""
    deleted: bool = False

    def edit(self, text: str) -> None:
        self.text = text
        self.versions.append(text)


@dataclass
class SimulatedChat:
    id: str
    is_group: bool
    name: str = ""
    members: dict[str, str] = field(default_factory=dict)
    """Roles by user."""
    messages: dict[str, SimulatedMessage] = field(default_factory=dict)


class SimulatedWorld:
    def __init__(self, bot_id: str = "bot") -> None:
        self.bot = SimulatedUser(bot_id, "Parlour", is_bot=True)
        self.users: dict[str, SimulatedUser] = {bot_id: self.bot}
        self.chats: dict[str, SimulatedChat] = {}
        self.sent: list[SimulatedMessage] = []
        """The bot's messages in their order."""
        self._numbers = itertools.count(1)

    def number(self) -> int:
        return next(self._numbers)

    def add_user(self, user_id: str, name: str = "") -> SimulatedUser:
        return self.users.setdefault(user_id, SimulatedUser(user_id, name or f"user {user_id}"))

    def add_chat(self, chat_id: str, *users: str, is_group: bool = False, name: str = "") -> SimulatedChat:
        """Creates a chat of the bot with these users."""
        for user_id in users:
            self.add_user(user_id)
        members = dict.fromkeys((self.bot.id, *users), "member")
        chat = self.chats[chat_id] = SimulatedChat(chat_id, is_group, name or f"chat {chat_id}", members)
        return chat

    def show(self, chat_id: str, sender: str, text: str, **content: Any) -> SimulatedMessage:
        """Adds a message to a chat. Raises KeyError if there is no such chat."""
        chat = self.chats[chat_id]
        message = SimulatedMessage(f"m{self.number()}", chat_id, sender, text, content, [text])
        chat.messages[message.id] = message
        if sender == self.bot.id:
            self.sent.append(message)
        return message
