"""Tracks the state of the rooms that the bot is in: names, members and their power levels.

The state is built from the homeserver's reports; the history of a room is not stored.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from parlour_sdk.protocol.people import ChatType, Group, GroupMember, MemberRole, User

from .bridges import Bridge
from .values import Payload, mapping, number, sequence, text

OWNER_LEVEL, ADMIN_LEVEL = 100, 50
MAX_CACHED_NAMES = 1000
"""Maximum number of member names kept for each room; other members are shown by their id."""
MAX_UPGRADES = 50
"""Upgrades of a room that are followed."""


class MatrixRoom:
    """State of one room. `find` looks up the rooms that it replaces."""

    def __init__(
        self,
        room_id: str,
        find: "Callable[[str], MatrixRoom | None]" = lambda room_id: None,
        bridge_bots: set[str] | None = None,
    ) -> None:
        self.room_id = room_id
        self.encrypted = False
        self.bridge = Bridge(set() if bridge_bots is None else bridge_bots)
        self.replacement = ""
        """The room that replaces this one since its upgrade."""
        self.upgraded_by = ""
        self._find = find
        self._predecessor = ""
        self._joined_count = 0
        self._invited = 0
        self._name = ""
        self._alias = ""
        self._topic = ""
        self._levels: Payload = {}
        self._creators: set[str] = set()
        self.creator_server = ""
        """The server of the room's creator; empty while it is not known."""
        self._names: OrderedDict[str, str] = OrderedDict()

    @property
    def chat_type(self) -> ChatType:
        """`private` for a room with one other member, which becomes a group when another user joins."""
        members = self._joined_count + self._invited
        return "private" if 0 < members <= 2 or self.bridge.is_private(members) else "group"

    @property
    def chat_id(self) -> str:
        """The room in which the chat began: a replaced room is the same chat if both rooms name each other."""
        room = self
        for _ in range(MAX_UPGRADES):
            replaced = self._find(room._predecessor) if room._predecessor else None
            if replaced is None or replaced.replacement != room.room_id:
                break
            room = replaced
        return room.room_id

    @property
    def group(self) -> Group:
        name = self._name or self._alias
        return Group(
            id=self.chat_id, name=name, description=self._topic or None, member_count=self._joined_count or None
        )

    def user(self, user_id: str, is_bot: bool = False) -> User:
        return User(id=user_id, nickname=self.name_of(user_id), username=user_id, is_bot=is_bot)

    def member(self, user_id: str) -> GroupMember:
        return GroupMember(user=self.user(user_id), group_id=self.chat_id, role=self.role(user_id))

    def name_of(self, user_id: str) -> str:
        return self._names.get(user_id) or local_part(user_id)

    def role(self, user_id: str) -> MemberRole:
        level = self._level(user_id)
        if user_id in self._creators or level >= OWNER_LEVEL:
            return "owner"
        return "admin" if level >= ADMIN_LEVEL else "member"

    def update_member_counts(self, summary: Payload) -> None:
        """Updates the member counts from a sync summary; counts that it leaves out have not changed."""
        joined, invited = (number(summary.get(f"m.{each}_member_count")) for each in ("joined", "invited"))
        self._joined_count = self._joined_count if joined is None else joined
        self._invited = self._invited if invited is None else invited

    def apply_state(self, event: Payload) -> None:
        """Updates the room from a state event; other events are ignored."""
        if not isinstance(event.get("state_key"), str):
            return
        content = mapping(event.get("content"))
        match event.get("type"):
            case "m.room.member":
                self._cache_name(event["state_key"], text(content, "displayname"))
                self.bridge.apply_member(event["state_key"], text(content, "membership"))
                self.bridge.is_direct |= _is_direct(event, content)
            case "m.room.name":
                self._name = text(content, "name")
            case "m.room.topic":
                self._topic = text(content, "topic")
            case "m.room.canonical_alias":
                self._alias = text(content, "alias")
            case "m.room.power_levels":
                self._levels = content
            case "m.room.encryption":
                self.encrypted = True
            case "m.room.create":
                self._created(event, content)
            case "m.room.tombstone":
                self.replacement = text(content, "replacement_room")
                self.upgraded_by = text(event, "sender")
            case str(kind):
                self.bridge.apply_state(kind, event, content)

    def _created(self, event: Payload, content: Payload) -> None:
        """Records the creators of the room. From room version 12 on they rank above all power levels."""
        self.creator_server = server_of(text(event, "sender"))
        self._predecessor = text(mapping(content.get("predecessor")), "room_id")
        version = text(content, "room_version")
        if version.isdecimal() and len(version) < 4 and int(version) >= 12:
            additional_creators = [
                each for each in sequence(content.get("additional_creators")) if isinstance(each, str)
            ]
            self._creators = {text(event, "sender"), *additional_creators}

    def _cache_name(self, user_id: str, name: str) -> None:
        self._names[user_id] = name
        self._names.move_to_end(user_id)
        if len(self._names) > MAX_CACHED_NAMES:
            self._names.popitem(last=False)

    def _level(self, user_id: str) -> int:
        level = mapping(self._levels.get("users")).get(user_id, self._levels.get("users_default"))
        return level if isinstance(level, int) else 0


class MatrixRooms:
    """The rooms that the bot is in."""

    def __init__(self) -> None:
        self._rooms: dict[str, MatrixRoom] = {}
        self.bridge_bots: set[str] = set()
        """Users who have said in any room to be the bot of a bridge."""

    def __contains__(self, room_id: str) -> bool:
        return room_id in self._rooms

    def get(self, room_id: str) -> MatrixRoom:
        """Returns the state of a room; an unknown room is treated as a group."""
        return self._rooms.get(room_id) or MatrixRoom(room_id, self._rooms.get, self.bridge_bots)

    def current(self, room_id: str) -> str:
        """Returns the room in which a chat goes on after upgrades, as far as the bot has followed them."""
        for _ in range(MAX_UPGRADES):
            room = self._rooms.get(room_id)
            if room is None or room.replacement not in self._rooms:
                break
            room_id = room.replacement
        return room_id

    def mark_direct(self, direct: Payload) -> None:
        """Marks the rooms that the account's data names as direct chats."""
        for rooms in direct.values():
            for room_id in sequence(rooms):
                if isinstance(room_id, str) and room_id in self._rooms:
                    self._rooms[room_id].bridge.is_direct = True

    def all(self) -> list[MatrixRoom]:
        return list(self._rooms.values())

    def apply_sync(self, room_id: str, sync_part: Payload) -> MatrixRoom:
        """Applies what a sync reports of a joined room, except for its timeline."""
        room = self._rooms.setdefault(room_id, MatrixRoom(room_id, self._rooms.get, self.bridge_bots))
        room.update_member_counts(mapping(sync_part.get("summary")))
        for event in event_list(sync_part, "state"):
            room.apply_state(event)
        return room

    def leave(self, room_id: str) -> None:
        self._rooms.pop(room_id, None)


def _is_direct(event: Payload, content: Payload) -> bool:
    """Returns whether an invitation is to a direct chat; after the user has joined, it is the previous content."""
    previous = mapping(mapping(event.get("unsigned")).get("prev_content"))
    return content.get("is_direct") is True or previous.get("is_direct") is True


def event_list(sync_part: Payload, part: str) -> list[Any]:
    """Returns the events of one part; entries that are not objects are left out."""
    return [each for each in sequence(mapping(sync_part.get(part)).get("events")) if isinstance(each, dict)]


def server_of(user_id: str) -> str:
    return user_id.partition(":")[2]


def local_part(user_id: str) -> str:
    return user_id.removeprefix("@").partition(":")[0]
