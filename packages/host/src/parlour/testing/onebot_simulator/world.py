"""The data of the simulated QQ: accounts, groups, friends, messages, requests and files, with QQ's own limits."""

import time
from dataclasses import dataclass, field
from itertools import count
from typing import Any

Segment = dict[str, Any]
Payload = dict[str, Any]

LONGEST_TEXT = 4500
ALONE = ("record", "video", "file")
KINDS = {
    "text", "at", "face", "image", "record", "video", "file", "reply", "node", "forward", "rps", "dice", "shake",
    "poke", "share", "contact", "location", "music", "json", "xml", "mface", "markdown",
}  # fmt: skip


class Failed(Exception):
    """Says that the action was not done."""

    def __init__(self, retcode: int, wording: str, data: Any = None) -> None:
        super().__init__(wording)
        self.retcode = retcode
        self.wording = wording
        self.data = data


@dataclass(frozen=True)
class Sent:
    """Represents a message of the bot as QQ shows it."""

    message_id: int
    chat: str
    """The chat: `group:1` or `private:2`."""
    segments: list[Segment]
    forward: bool = False
    deleted: bool = False
    at: float = field(default_factory=time.monotonic)

    @property
    def text(self) -> str:
        return "".join(str(each["data"].get("text", "")) for each in self.segments if each["type"] == "text")


@dataclass
class Group:
    group_id: int
    name: str
    members: dict[int, Payload] = field(default_factory=dict)
    whole_ban: bool = False


_numbers = count(1000001)
"""Numbers of all messages; as on QQ they are unique across accounts."""


class World:
    """Represents one account's view. `strict` groups and friends must exist; otherwise they are created when named."""

    def __init__(self, self_id: int, strict: bool = False) -> None:
        self.self_id = self_id
        self.strict = strict
        self.groups: dict[int, Group] = {}
        self.friends: dict[int, Payload] = {}
        self.messages: dict[int, Payload] = {}
        self.forwards: dict[str, list[Payload]] = {}
        self.requests: dict[str, Payload] = {}
        self.files: dict[str, str] = {}
        self.sent: list[Sent] = []
        self.online = True
        self.has_history = True
        """True if the latest messages of a chat can be requested."""

    def number(self) -> int:
        return next(_numbers)

    def group(self, group_id: Any) -> Group:
        number = whole_number("group_id", group_id)
        if number not in self.groups:
            if self.strict:
                raise Failed(102, f"the group {number} does not exist or the account is not in it")
            self.add_group(number)
        return self.groups[number]

    def add_group(self, group_id: int, name: str = "", role: str = "member") -> Group:
        group = Group(group_id, name or f"group {group_id}")
        self.groups[group_id] = group
        self.add_member(group_id, self.self_id, role)
        return group

    def add_member(self, group_id: int, user_id: int, role: str = "member", card: str = "") -> Payload:
        member = {
            "group_id": group_id, "user_id": user_id, "nickname": f"user {user_id}", "card": card, "role": role,
            "title": "", "join_time": 1600000000, "shut_up_timestamp": 0,
        }  # fmt: skip
        self.groups[group_id].members[user_id] = member
        return member

    def member(self, group_id: Any, user_id: Any) -> Payload:
        group, number = self.group(group_id), whole_number("user_id", user_id)
        if number not in group.members:
            if self.strict:
                raise Failed(102, f"{number} is not a member of group {group.group_id}")
            self.add_member(group.group_id, number)
        return group.members[number]

    def need_admin(self, group_id: Any) -> None:
        if self.member(group_id, self.self_id)["role"] == "member":
            raise Failed(102, "the account is no administrator of this group")

    def add_friend(self, user_id: int, nickname: str = "", remark: str = "") -> Payload:
        self.friends[user_id] = {"user_id": user_id, "nickname": nickname or f"user {user_id}", "remark": remark}
        return self.friends[user_id]

    def show(self, chat: str, segments: list[Segment], forward: bool = False) -> Sent:
        """Creates a message of the account itself."""
        self._check(chat, segments, forward)
        sent = Sent(self.number(), chat, segments, forward)
        self.sent.append(sent)
        kind, _, name = chat.partition(":")
        self.messages[sent.message_id] = {
            "time": int(time.time()), "message_type": kind, "message_id": sent.message_id, "real_id": sent.message_id,
            "sender": {"user_id": self.self_id, "nickname": "bot"}, "message": segments, "chat": name,
        }  # fmt: skip
        return sent

    def _check(self, chat: str, segments: list[Segment], forward: bool) -> None:
        kind, _, name = chat.partition(":")
        if kind == "group":
            group, bot_member = self.group(name), self.member(name, self.self_id)
            if bot_member["shut_up_timestamp"] > time.time() or (group.whole_ban and bot_member["role"] == "member"):
                raise Failed(102, "the account is muted in this group")
        elif self.strict and int(name) not in self.friends:
            raise Failed(102, f"{name} is no friend of this account")
        if not segments:
            raise Failed(1400, "the message is empty")
        for segment in segments:
            self._check_segment(segment)
        kinds = [segment["type"] for segment in segments]
        if len(kinds) > 1 and any(each in ALONE for each in kinds) and not forward:
            raise Failed(1200, "voice, video and files can only be sent by themselves")
        length = sum(len(each["data"].get("text", "")) for each in segments if each["type"] == "text")
        if length > LONGEST_TEXT:
            raise Failed(1200, f"the message is too long: {length} characters")

    def _check_segment(self, segment: Any) -> None:
        if not isinstance(segment, dict) or not isinstance(segment.get("data"), dict):
            raise Failed(1400, "a segment is an object with type and data")
        kind, data = segment.get("type"), segment["data"]
        if kind not in KINDS:
            raise Failed(1400, f"there is no segment of type {kind}")
        if kind == "at" and str(data.get("qq")) != "all":
            whole_number("qq", data.get("qq"))
        if kind in ("image", "record", "video", "file"):
            file = str(data.get("file", ""))
            if not file.startswith(("http://", "https://", "base64://")) and file not in self.files:
                raise Failed(1200, f"the file {file[:60]!r} can't be read")
        if kind == "reply" and self.strict and int(data.get("id", 0)) not in self.messages:
            raise Failed(1200, "the message to be answered does not exist")


def whole_number(name: str, value: Any) -> int:
    """Reads a number or its digits, as NapCat does."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lstrip("-").isdecimal():
        return int(value)
    raise Failed(1400, f"{name} must be a number")
