"""Knows what the server has said about itself, its channels and their members, and about users that were seen."""

from collections.abc import Iterable
from dataclasses import field

from parlour.platforms._kit.bounded_map import BoundedMap
from parlour_sdk.protocol.people import MemberRole
from parlour_sdk.values import dataclass

from .lines import IrcLine

_ASCII = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_RFC1459 = {**_ASCII, **str.maketrans("[]\\^", "{}|~")}
_ROLES: dict[str, MemberRole] = {"q": "owner", "a": "admin", "o": "admin"}
ASSUMED_MAX_LINES = 24
"""Lines of a message of several lines, if the server limits only its bytes."""
NO_ACCOUNT = ("", "*", "0")


@dataclass(slots=True)
class IrcUser:
    """A user as last seen."""

    nick: str
    user: str = ""
    host: str = ""
    account: str = ""
    is_bot: bool = False


@dataclass(slots=True)
class IrcChannel:
    name: str
    topic: str = ""
    members: dict[str, set[str]] = field(default_factory=dict)
    """The modes of each member, by folded nick."""
    is_complete: bool = False
    """True when the names of all members have arrived."""


@dataclass(frozen=True, slots=True)
class MultilineLimits:
    """The size of a message of several lines that the server accepts."""

    bytes: int
    lines: int


class ServerState:
    """What is known during one connection."""

    def __init__(self, nick: str) -> None:
        self.nick = nick
        """The bot's nick of now."""
        self.capabilities: set[str] = set()
        self.channels: dict[str, IrcChannel] = {}
        self.users: BoundedMap[str, IrcUser] = BoundedMap()
        self.own_mask = ""
        """The bot's `user@host` as others see it, which counts for the length of a line."""
        self.multiline: MultilineLimits | None = None
        """The limits of messages of several lines; None if the server has no such messages."""
        self._features: dict[str, str] = {}

    # --- the server

    def learn_features(self, words: Iterable[str]) -> None:
        for word in words:
            name, _, value = word.partition("=")
            self._features[name.upper()] = value

    def feature(self, name: str) -> str:
        return self._features.get(name, "")

    def fold(self, name: str) -> str:
        """Returns a name in the form in which the server compares names."""
        table = _ASCII if self.feature("CASEMAPPING") == "ascii" else _RFC1459
        return name.translate(table)

    def is_channel(self, name: str) -> bool:
        return name[:1] in (self.feature("CHANTYPES") or "#&") and bool(name)

    def is_own(self, nick: str) -> bool:
        return self.fold(nick) == self.fold(self.nick)

    def member_modes(self) -> dict[str, str]:
        """Returns the modes of members by the sign before a nick, such as `o` for `@`."""
        modes, _, signs = (self.feature("PREFIX") or "(ov)@+").removeprefix("(").partition(")")
        return dict(zip(signs, modes, strict=False))

    def modes_with_parameter(self, is_set: bool) -> str:
        """Returns the modes of channels that have a parameter."""
        lists, always, when_set, *_ = [*(self.feature("CHANMODES") or "b,k,l,").split(","), "", "", ""]
        members = "".join(self.member_modes().values())
        return lists + always + members + (when_set if is_set else "")

    # --- users

    def see(self, line: IrcLine) -> IrcUser:
        """Returns the user that a line is from, with what it says about them."""
        known = self.users.get(self.fold(line.nick)) or IrcUser(line.nick)
        known.nick = line.nick
        user, host = line.mask
        known.user, known.host = user or known.user, host or known.host
        if "account-tag" in self.capabilities and line.mask != ("", ""):
            known.account = _account(line.tags.get("account", ""))
        known.is_bot = known.is_bot or "bot" in line.tags or "draft/bot" in line.tags
        self.users.set(self.fold(line.nick), known)
        return known

    def user_id(self, user: IrcUser) -> str:
        """Returns the account of a user, or the whole mask: anyone may take a nick."""
        return self.fold(user.account or f"{user.nick}!{user.user}@{user.host}")

    def find_user(self, user_id: str) -> IrcUser | None:
        """Returns a user that was seen with this id."""
        folded = self.fold(user_id)
        direct = self.users.get(folded.partition("!")[0])
        if direct is not None and self.user_id(direct) == folded:
            return direct
        return next((each for each in self.users.values() if self.user_id(each) == folded), None)

    def rename(self, old: str, new: str) -> None:
        user = self.users.pop(self.fold(old)) or IrcUser(new)
        user.nick = new
        self.users.set(self.fold(new), user)
        for channel in self.channels.values():
            if (modes := channel.members.pop(self.fold(old), None)) is not None:
                channel.members[self.fold(new)] = modes

    def forget(self, nick: str) -> None:
        self.users.pop(self.fold(nick))
        for channel in self.channels.values():
            channel.members.pop(self.fold(nick), None)

    # --- channels

    def channel(self, name: str) -> IrcChannel | None:
        return self.channels.get(self.fold(name))

    def shared_channels(self, nick: str) -> list[IrcChannel]:
        return [each for each in self.channels.values() if self.fold(nick) in each.members]

    def enter(self, name: str, nick: str) -> None:
        if self.is_own(nick):
            self.channels[self.fold(name)] = IrcChannel(name)
        if (channel := self.channel(name)) is not None:
            channel.members.setdefault(self.fold(nick), set())

    def leave(self, name: str, nick: str) -> None:
        if self.is_own(nick):
            self.channels.pop(self.fold(name), None)
        elif (channel := self.channel(name)) is not None:
            channel.members.pop(self.fold(nick), None)

    def learn_names(self, name: str, names: str) -> None:
        """Reads a part of the list of members, whose nicks have signs in front."""
        channel, modes = self.channel(name), self.member_modes()
        for each in names.split() if channel is not None else ():
            nick = each.lstrip("".join(modes))
            signs = each[: len(each) - len(nick)]
            nick, _, mask = nick.partition("!")
            if mask:
                user, _, host = mask.partition("@")
                self.users.set(self.fold(nick), IrcUser(nick, user, host))
            elif self.fold(nick) not in self.users:
                self.users.set(self.fold(nick), IrcUser(nick))
            assert channel is not None
            channel.members[self.fold(nick)] = {modes[sign] for sign in signs}

    def role(self, name: str, nick: str) -> MemberRole:
        channel = self.channel(name)
        modes = channel.members.get(self.fold(nick), set()) if channel is not None else set()
        return next((_ROLES[each] for each in "qao" if each in modes), "member")

    def read_modes(self, words: tuple[str, ...]) -> list[tuple[bool, str, str]]:
        """Returns the modes of a change with their parameters; true for those that are set."""
        letters, *parameters = words or ("",)
        is_set, changes = True, list[tuple[bool, str, str]]()
        for letter in letters:
            if letter in "+-":
                is_set = letter == "+"
            else:
                has_one = bool(parameters) and letter in self.modes_with_parameter(is_set)
                changes.append((is_set, letter, parameters.pop(0) if has_one else ""))
        return changes

    def set_modes(self, name: str, words: tuple[str, ...]) -> None:
        """Applies a change of modes to the members of a channel."""
        channel, member_modes = self.channel(name), set(self.member_modes().values())
        for is_set, letter, parameter in self.read_modes(words):
            if channel is not None and letter in member_modes:
                modes = channel.members.setdefault(self.fold(parameter), set())
                (modes.add if is_set else modes.discard)(letter)


def read_multiline(value: str) -> MultilineLimits | None:
    """Reads the limits that the server names with the capability; None if it has no usable ones."""
    limits = dict(each.partition("=")[::2] for each in value.split(","))
    size, lines = limits.get("max-bytes", ""), limits.get("max-lines", "")
    if not size.isdecimal():
        return None
    return MultilineLimits(int(size), int(lines) if lines.isdecimal() and int(lines) else ASSUMED_MAX_LINES)


def _account(name: str) -> str:
    return "" if name in NO_ACCOUNT else name
