"""The users, channels and messages of a simulated IRC server."""

import itertools
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatch

_FOLD = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ[]\\^", "abcdefghijklmnopqrstuvwxyz{}|~")


def fold(name: str) -> str:
    """Returns a name as the server compares it (CASEMAPPING rfc1459)."""
    return name.translate(_FOLD)


class IrcRefusal(Exception):
    """A numeric answer that refuses a command."""

    def __init__(self, numeric: str, *params: str) -> None:
        super().__init__(f"{numeric} {' '.join(params)}")
        self.numeric = numeric
        self.params = params


@dataclass
class SimulatedIrcUser:
    nick: str
    user: str = "user"
    host: str = "people.example"
    account: str = ""

    @property
    def mask(self) -> str:
        return f"{self.nick}!{self.user}@{self.host}"

    @property
    def id(self) -> str:
        """What identifies the user among all who could have the nick."""
        return fold(self.account or self.mask)


@dataclass
class SimulatedIrcChannel:
    name: str
    topic: str = ""
    key: str = ""
    is_moderated: bool = False
    is_invite_only: bool = False
    members: dict[str, set[str]] = field(default_factory=dict)
    """Modes by folded nick."""
    bans: set[str] = field(default_factory=set)

    def bans_user(self, user: SimulatedIrcUser) -> bool:
        return any(fnmatch(fold(user.mask), fold(mask)) for mask in self.bans)


@dataclass
class SentIrcMessage:
    """A line of a connected client to a user or a channel."""

    content: str
    sender: str
    target: str
    message_id: str
    tags: dict[str, str] = field(default_factory=dict)
    label: str = ""
    """What the client calls the line."""
    deleted: bool = False

    @property
    def chat(self) -> str:
        return fold(self.target)

    @property
    def text(self) -> str:
        """The text as a user reads it."""
        if self.content.startswith("\x01ACTION "):
            return f"* {self.sender} {self.content[8:].rstrip(chr(1))}"
        return self.content


@dataclass
class PastIrcMessage:
    """A message that the server keeps."""

    time: str
    sender: SimulatedIrcUser
    message: SentIrcMessage


class IrcWorld:
    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.users: dict[str, SimulatedIrcUser] = {}
        """Users by folded nick, those of connected clients included."""
        self.channels: dict[str, SimulatedIrcChannel] = {}
        self.sent: list[SentIrcMessage] = []
        self.notices: list[SentIrcMessage] = []
        self.tagged: list[SentIrcMessage] = []
        """Messages without text: reactions and typing."""

    def add_user(self, nick: str, account: str = "", host: str = "people.example") -> SimulatedIrcUser:
        user = SimulatedIrcUser(nick, host=host, account=account)
        self.users[fold(nick)] = user
        return user

    def add_channel(self, name: str, *users: SimulatedIrcUser, operator: SimulatedIrcUser | None = None) -> str:
        channel = SimulatedIrcChannel(name)
        for user in users:
            channel.members[fold(user.nick)] = {"o"} if user is operator else set()
        self.channels[fold(name)] = channel
        return fold(name)

    def user(self, nick: str) -> SimulatedIrcUser:
        if fold(nick) not in self.users:
            raise IrcRefusal("401", nick, "No such nick/channel")
        return self.users[fold(nick)]

    def channel(self, name: str) -> SimulatedIrcChannel:
        if fold(name) not in self.channels:
            raise IrcRefusal("403", name, "No such channel")
        return self.channels[fold(name)]

    def message_id(self) -> str:
        return f"m{next(self._numbers)}x{time.time_ns()}"


def server_time() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def is_channel(name: str) -> bool:
    return name.startswith("#")
