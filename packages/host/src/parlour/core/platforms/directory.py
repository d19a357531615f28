"""Records which people, chats, members and messages the events of a bot named, for platforms without a look-up.

The rows are written in the unit that accepts the event. A row that was written within the last hour is not written
again unless something changed, so that most messages add one row at most. `seen_api.py` answers from these tables.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterator
from typing import Any

from parlour.core.encoding import dumps, loads
from parlour.core.journal import (
    ANY,
    Delete,
    Insert,
    Journal,
    Row,
    Select,
    Statement,
    Table,
    Update,
    Upsert,
    Value,
    one_of,
    where,
)
from parlour.core.model.chats import split_chat_key
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ids import BotId, EventId
from parlour.core.model.ports import Clock
from parlour.core.store.tables import DIRECTORY, DIRECTORY_MEMBERS, DIRECTORY_MESSAGES, EVENTS
from parlour_sdk.values import dataclass

REFRESH_MILLISECONDS = 3600 * 1000
"""Milliseconds after which an unchanged row is written again, to update when it was last seen."""
MAX_RECENT_ROWS = 10_000
"""Rows whose last write is held in memory per bot; the least recently written one is removed first."""
MAX_LISTED_ROWS = 5000
"""Rows of one list at most."""
_USER_FIELDS = ("sender", "editor", "user", "operator", "inviter")
_MEMBER_APIS = ("get_group_member_list", "get_group_member_info")

LEAVING = ("group.member_left", "bot.removed_from_group")
"""Events that end memberships."""
_RowKey = tuple[str, ...]
_Content = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Sighting:
    """The statements that record what one event names, and the rows that they write."""

    statements: tuple[Statement, ...] = ()
    written: tuple[tuple[_RowKey, _Content], ...] = ()


class Directory:
    """Reads and deletes the directory of all bots."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.generation = 0
        """Rises with each deletion, after which the recorders write all rows again."""

    async def entry(self, bot_id: BotId, kind: str, entity_id: str) -> Row | None:
        """Returns the row of a user or group."""
        rows = await self._read(DIRECTORY, 1, bot_id=bot_id, kind=kind, entity_id=entity_id)
        return rows[0] if rows else None

    async def groups(self, bot_id: BotId) -> list[Row]:
        return await self._read(DIRECTORY, bot_id=bot_id, kind="group")

    async def friends(self, bot_id: BotId) -> list[Row]:
        """Returns the users who wrote to the bot in private or became its friends."""
        return await self._read(DIRECTORY, bot_id=bot_id, kind="user", private=1)

    async def members(self, bot_id: BotId, group_id: str) -> list[Row]:
        return await self._read(DIRECTORY_MEMBERS, bot_id=bot_id, group_id=group_id)

    async def member(self, bot_id: BotId, group_id: str, user_id: str) -> Row | None:
        rows = await self._read(DIRECTORY_MEMBERS, 1, bot_id=bot_id, group_id=group_id, user_id=user_id)
        return rows[0] if rows else None

    async def messages(self, bot_id: BotId, message_id: str) -> list[Row]:
        """Returns the messages with this id, in whichever chats they were seen."""
        return await self._read(DIRECTORY_MESSAGES, bot_id=bot_id, message_id=message_id)

    async def users(self, bot_id: BotId, user_ids: Collection[str]) -> dict[str, Row]:
        """Returns the entries of these users, by id."""
        if not user_ids:
            return {}
        conditions = where(bot_id=bot_id, kind="user", entity_id=one_of(*user_ids))
        return {row["entity_id"]: row for row in await self._journal.read(Select(DIRECTORY, conditions))}

    async def event(self, bot_id: BotId, event_id: EventId) -> Row | None:
        """Returns the event of a message, unless its content was deleted."""
        query = Select(EVENTS, where(bot_id=bot_id, event_id=event_id, principal=""), limit=1)
        rows = await self._journal.read(query)
        return rows[0] if rows and loads(rows[0]["body"])["surface"] else None

    def forget_chat(self, bot_id: BotId, chat: str) -> list[Statement]:
        """Builds the statements that forget the group or user of a chat. Its messages are deleted separately, in
        batches.
        """
        key = split_chat_key(chat)
        if key is None:
            return []
        self.generation += 1
        chat_type, chat_id = key
        if chat_type == "private":
            return self.forget_person(bot_id, chat_id)
        group = where(bot_id=bot_id, kind="group", entity_id=chat_id)
        members = where(bot_id=bot_id, group_id=chat_id)
        return [Delete(DIRECTORY, group, expect=ANY), Delete(DIRECTORY_MEMBERS, members, expect=ANY)]

    def forget_person(self, bot_id: BotId, user_id: str) -> list[Statement]:
        """Builds the statements that forget a person: the entry, the memberships and the sender of messages."""
        self.generation += 1
        person = where(bot_id=bot_id, kind="user", entity_id=user_id)
        return [
            Delete(DIRECTORY, person, expect=ANY),
            Delete(DIRECTORY_MEMBERS, where(bot_id=bot_id, user_id=user_id), expect=ANY),
            Delete(DIRECTORY_MESSAGES, where(bot_id=bot_id, sender_id=user_id), expect=ANY),
        ]

    async def export_person(self, bot_id: BotId, user_id: str) -> dict[str, list[Row]]:
        """Returns everything that the directory has about a person, by table."""
        return {
            DIRECTORY.name: await self._read(DIRECTORY, bot_id=bot_id, kind="user", entity_id=user_id),
            DIRECTORY_MEMBERS.name: await self._read(DIRECTORY_MEMBERS, bot_id=bot_id, user_id=user_id),
            DIRECTORY_MESSAGES.name: await self._read(DIRECTORY_MESSAGES, bot_id=bot_id, sender_id=user_id),
        }

    async def _read(self, table: Table, limit: int = MAX_LISTED_ROWS, **conditions: Value) -> list[Row]:
        return await self._journal.read(Select(table, where(**conditions), order=table.key, limit=limit))


class DirectoryRecorder:
    """Records the sightings of one bot, as far as its platform's `seen` methods need them."""

    def __init__(self, directory: Directory, bot_id: BotId, seen_apis: Collection[str], clock: Clock) -> None:
        self._directory = directory
        self._bot_id = bot_id
        self._apis = frozenset(seen_apis)
        self._clock = clock
        self._generation = directory.generation
        self._recent: OrderedDict[_RowKey, tuple[_Content, int]] = OrderedDict()

    def record(self, event: EventEnvelope) -> Sighting:
        """Builds the statements for the unit that accepts the event. Call `after_commit` when it is committed."""
        if not self._apis:
            return Sighting()
        if self._generation != self._directory.generation:
            self._generation = self._directory.generation
            self._recent.clear()
        now = self._clock.now()
        statements = self._deletions(event)
        written: list[tuple[_RowKey, _Content]] = []
        for insert in self._inserts(event, now):
            key = (insert.table.name, *(str(insert.values[name]) for name in insert.table.key))
            content = tuple(value for name, value in insert.values.items() if name != "seen_at")
            previous = self._recent.get(key)
            if previous is None or previous[0] != content or not 0 <= now - previous[1] < REFRESH_MILLISECONDS:
                statements.append(insert)
                written.append((key, content))
        return Sighting(tuple(statements), tuple(written))

    def after_commit(self, sighting: Sighting) -> None:
        now = self._clock.now()
        for key, content in sighting.written:
            self._recent[key] = (content, now)
            self._recent.move_to_end(key)
            if len(self._recent) > MAX_RECENT_ROWS:
                self._recent.popitem(last=False)

    def _inserts(self, event: EventEnvelope, now: int) -> Iterator[Insert]:
        data, apis = event.data, self._apis
        chat_type, chat_id = str(data.get("chat_type", "")), str(data.get("chat_id", ""))
        group_id = chat_id if chat_type == "group" else ""
        in_private = chat_type == "private" and event.event_type != "friend.removed"
        for user in _users(data):
            yield self._user(user, in_private and user["id"] == chat_id, now)
            if group_id and not apis.isdisjoint(_MEMBER_APIS) and event.event_type not in LEAVING:
                role = str(data.get("role", "")) if user is data.get("sender") else ""
                yield self._member(group_id, user, _own_member(data, user), role, now)
        if group_id and event.event_type != "bot.removed_from_group" and apis & {"get_group_info", "get_group_list"}:
            yield self._group(group_id, data.get("group"), now)
        message_id = data.get("message_id")
        if message_id and "get_message" in apis and event.event_type == "message.received":
            yield Insert(
                DIRECTORY_MESSAGES,
                {
                    "bot_id": self._bot_id,
                    "chat": event.chat,
                    "message_id": str(message_id),
                    "thread_id": event.thread_id,
                    "event_id": event.event_id,
                    "sender_id": event.actor.id,
                    "seen_at": now,
                },
                conflict="ignore",
            )

    def _user(self, user: dict[str, Any], is_private: bool, now: int) -> Insert:
        details = {name: user[name] for name in ("username", "avatar_url", "is_bot") if user.get(name)}
        return self._entry("user", user["id"], str(user.get("nickname") or ""), details, is_private, now)

    def _group(self, group_id: str, group: Any, now: int) -> Insert:
        known = group if isinstance(group, dict) else {}
        details = {name: known[name] for name in ("description", "member_count", "avatar_url") if known.get(name)}
        return self._entry("group", group_id, str(known.get("name") or ""), details, False, now)

    def _entry(
        self, kind: str, entity_id: str, name: str, details: dict[str, Any], is_private: bool, now: int
    ) -> Insert:
        """Builds the statement that inserts or updates an entry.

        An event without a name or details leaves those of earlier events.
        """
        values: dict[str, Value] = {
            "bot_id": self._bot_id,
            "kind": kind,
            "entity_id": entity_id,
            "name": name,
            "data": dumps(details),
            "private": int(is_private),
            "seen_at": now,
        }
        known = [("name", name), ("data", details), ("private", is_private)]
        columns = (*(column for column, value in known if value), "seen_at")
        return Insert(DIRECTORY, values, conflict=Upsert(DIRECTORY.key, columns))

    def _member(self, group_id: str, user: dict[str, Any], member: dict[str, Any], role: str, now: int) -> Insert:
        name, role = str(member.get("display_name") or ""), role or str(member.get("role") or "")
        values: dict[str, Value] = {
            "bot_id": self._bot_id,
            "group_id": group_id,
            "user_id": user["id"],
            "name": name,
            "role": role,
            "seen_at": now,
        }
        columns = (*(column for column, value in (("name", name), ("role", role)) if value), "seen_at")
        return Insert(DIRECTORY_MEMBERS, values, conflict=Upsert(DIRECTORY_MEMBERS.key, columns))

    def _deletions(self, event: EventEnvelope) -> list[Statement]:
        """Builds the statements for members who left, groups that the bot left, and deleted messages."""
        data, bot = event.data, where(bot_id=self._bot_id)
        chat_id = str(data.get("chat_id", ""))
        match event.event_type:
            case "group.member_left":
                user = _member_user(data)
                conditions = bot + where(group_id=chat_id, user_id=str(user.get("id", "")))
                self._recent.pop((DIRECTORY_MEMBERS.name, self._bot_id, chat_id, str(user.get("id", ""))), None)
                return [Delete(DIRECTORY_MEMBERS, conditions, expect=ANY)]
            case "bot.removed_from_group":
                self._recent.clear()
                group = bot + where(kind="group", entity_id=chat_id)
                members = bot + where(group_id=chat_id)
                return [Delete(DIRECTORY, group, expect=ANY), Delete(DIRECTORY_MEMBERS, members, expect=ANY)]
            case "friend.removed":
                self._recent.pop((DIRECTORY.name, self._bot_id, "user", chat_id), None)
                friend = bot + where(kind="user", entity_id=chat_id)
                return [Update(DIRECTORY, {"private": 0}, friend, expect=ANY)]
            case "message.deleted":
                message = bot + where(chat=event.chat, message_id=str(data.get("message_id", "")))
                return [Delete(DIRECTORY_MESSAGES, message, expect=ANY)]
        return []


def details(row: Row) -> dict[str, Any]:
    """Returns the stored details of a user or group."""
    decoded: dict[str, Any] = loads(row["data"])
    return decoded


def _member_user(data: Any) -> dict[str, Any]:
    member = data.get("member")
    user = member.get("user") if isinstance(member, dict) else None
    return user if isinstance(user, dict) else {}


def _own_member(data: Any, user: dict[str, Any]) -> dict[str, Any]:
    member = data.get("member")
    return member if isinstance(member, dict) and member.get("user") is user else {}


def _users(data: Any) -> list[dict[str, Any]]:
    """Returns the users that an event names, each once."""
    named = [data.get(name) for name in _USER_FIELDS] + [_member_user(data)]
    users = [each for each in named if isinstance(each, dict) and isinstance(each.get("id"), str) and each["id"]]
    return list({each["id"]: each for each in reversed(users)}.values())
