"""Looks up and caches the names of users and groups that events mention only by id.

A name is looked up once, when an event is about to be handled, and stored in the table `names` until it expires.
Accepting an event never waits for it: `with_cached_names` uses the names in memory, `with_names` waits for a bounded
time when the event is handled.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from parlour.core.config.bots import require_bot_exists
from parlour.core.journal import (
    ANY,
    Delete,
    GuardFailed,
    Insert,
    Journal,
    Select,
    Statement,
    StorageFailed,
    Unit,
    Upsert,
)
from parlour.core.journal import where as matching
from parlour.core.model.chats import PLATFORM_SURFACE, split_chat_key
from parlour.core.model.event import EventEnvelope, Participant, RecordedEvent
from parlour.core.model.ids import BotId
from parlour.core.model.ports import Clock
from parlour.core.store.tables import NAMES
from parlour_sdk.protocol.platform_api import NotSupportedError
from parlour_sdk.values import dataclass

from .connections import PlatformBots
from .port import PlatformOffline, PlatformRefused, PlatformUncertain

logger = logging.getLogger(__name__)

NAME_WAIT_SECONDS = 3.0
"""Seconds that an event waits for names before it is handled without them."""
NAME_TTL_MILLISECONDS = 7 * 24 * 3600 * 1000
"""Milliseconds for which a name is used before it is looked up again."""
UNKNOWN_NAME_TTL_MILLISECONDS = 3600 * 1000
"""Milliseconds before a platform that did not know a name is asked again."""
MAX_CACHED_NAMES = 10_000
"""Names that are held in memory; the least recently stored one is removed first."""
MAX_NAME_CHARACTERS = 200
"""Characters after which a name is cut."""
MAX_NAMES_PER_EVENT = 20
"""Maximum number of names that are looked up for one event."""

Kind = Literal["user", "group"]
_USERS = ("sender", "editor", "user", "operator", "inviter")


class NameKey(NamedTuple):
    bot_id: BotId
    kind: Kind
    entity_id: str


@dataclass(frozen=True, slots=True)
class KnownName:
    """A name, or an empty text if the platform has none."""

    name: str
    expires_at: int


class NameDirectory:
    """Adds names to events, from memory, from the database or from the platform."""

    def __init__(self, journal: Journal, bots: PlatformBots, clock: Clock) -> None:
        self._journal = journal
        self._bots = bots
        self._clock = clock
        self._cache: OrderedDict[NameKey, KnownName] = OrderedDict()
        self._lookups: dict[NameKey, asyncio.Task[None]] = {}

    def needs_names(self, envelope: EventEnvelope) -> bool:
        """Returns whether the event needs `with_names`: a name is known that it lacks, or one has to be looked up."""
        cached = (self._cached(key) for key in _keys_without_name(envelope))
        return any(each is None or each.name for each in cached)

    def with_cached_names(self, envelope: EventEnvelope) -> EventEnvelope:
        """Returns the event with the names that are in memory."""
        names = {
            key: cached.name for key in _keys_without_name(envelope) if (cached := self._cached(key)) and cached.name
        }
        return _with_names(envelope, names) if names else envelope

    async def with_names(self, event: RecordedEvent) -> RecordedEvent:
        """Returns the event with its names; names that do not arrive in time are left out."""
        envelope = event.envelope
        missing = self._missing_keys(envelope)
        if missing:
            lookups = [self._lookup(key, envelope) for key in missing]
            await asyncio.wait(lookups, timeout=NAME_WAIT_SECONDS)
        named_envelope = self.with_cached_names(envelope)
        return event if named_envelope is envelope else replace(event, envelope=named_envelope)

    def forget_chat(self, bot_id: BotId, chat: str) -> list[Statement]:
        """Forgets the user or group of a chat. The statements belong to the unit that deletes the conversation."""
        named = split_chat_key(chat)
        if named is None:
            return []
        key = NameKey(bot_id, "group" if named[0] == "group" else "user", named[1])
        self._cache.pop(key, None)
        return [Delete(NAMES, matching(**key._asdict()), expect=ANY)]

    async def close(self) -> None:
        lookups = list(self._lookups.values())
        for lookup in lookups:
            lookup.cancel()
        await asyncio.gather(*lookups, return_exceptions=True)

    def _missing_keys(self, envelope: EventEnvelope) -> list[NameKey]:
        return [key for key in _keys_without_name(envelope) if self._cached(key) is None][:MAX_NAMES_PER_EVENT]

    def _cached(self, key: NameKey) -> KnownName | None:
        entry = self._cache.get(key)
        return entry if entry is not None and self._is_valid(entry.expires_at) else None

    def _is_valid(self, expires_at: int) -> bool:
        """Returns whether a name is still valid; one that was stored while the clock was ahead is looked up again."""
        return 0 < expires_at - self._clock.now() <= NAME_TTL_MILLISECONDS

    def _remember(self, key: NameKey, entry: KnownName) -> None:
        self._cache[key] = entry
        self._cache.move_to_end(key)
        if len(self._cache) > MAX_CACHED_NAMES:
            self._cache.popitem(last=False)

    def _lookup(self, key: NameKey, envelope: EventEnvelope) -> asyncio.Task[None]:
        """Shares one lookup between all events that wait for the same name."""
        if key not in self._lookups:
            group_id = str(_group(envelope.data).get("id") or "")
            account = str(envelope.data.get("account", ""))
            lookup = asyncio.create_task(self._find(key, account, group_id))
            self._lookups[key] = lookup
            lookup.add_done_callback(lambda _: self._lookups.pop(key, None))
        return self._lookups[key]

    async def _find(self, key: NameKey, account: str, group_id: str) -> None:
        try:
            stored = await self._load(key)
            if stored is not None:
                self._remember(key, stored)
                return
            name = await self._query_platform(key, account, group_id)
            ttl = NAME_TTL_MILLISECONDS if name else UNKNOWN_NAME_TTL_MILLISECONDS
            entry = KnownName(name, self._clock.now() + ttl)
            self._remember(key, entry)
            await self._store(key, entry)
        except PlatformOffline:
            logger.debug("no lookup of the name of %s %s: bot %s is offline", key.kind, key.entity_id, key.bot_id)
        except GuardFailed:
            logger.debug("bot %s was removed while a name was looked up", key.bot_id)
        except StorageFailed as failure:
            logger.warning("the name of %s %s is not stored: %s", key.kind, key.entity_id, failure.message)
        except Exception:  # an event without names is better than one that is not handled
            logger.exception("lookup of the name of %s %s failed", key.kind, key.entity_id)
            self._remember(key, KnownName("", self._clock.now() + UNKNOWN_NAME_TTL_MILLISECONDS))

    async def _load(self, key: NameKey) -> KnownName | None:
        rows = await self._journal.read(Select(NAMES, matching(**key._asdict()), ("name", "expires_at"), limit=1))
        if not rows or not self._is_valid(rows[0]["expires_at"]):
            return None
        return KnownName(rows[0]["name"], rows[0]["expires_at"])

    async def _store(self, key: NameKey, entry: KnownName) -> None:
        values = {**key._asdict(), "name": entry.name, "created_at": self._clock.now(), "expires_at": entry.expires_at}
        upsert = Upsert(("bot_id", "kind", "entity_id"), ("name", "created_at", "expires_at"))
        await self._journal.commit(
            Unit("name.keep", (require_bot_exists(key.bot_id), Insert(NAMES, values, conflict=upsert)))
        )

    async def _query_platform(self, key: NameKey, account: str, group_id: str) -> str:
        adapter, manifest = self._bots.adapter(key.bot_id), self._bots.manifest(key.bot_id)
        if adapter is None or manifest is None:
            raise PlatformOffline("the bot is not running")
        api, supported = adapter.api(account), manifest.supported_apis
        try:
            if key.kind == "group":
                return _line((await api.get_group_info(key.entity_id)).name)
            if "get_user_info" in supported:
                return _line((await api.get_user_info(key.entity_id)).nickname)
            if group_id and "get_group_member_info" in supported:
                member = await api.get_group_member_info(group_id, key.entity_id)
                return _line(member.display_name or member.user.nickname)
        except PlatformOffline:
            raise
        except (PlatformRefused, PlatformUncertain, NotSupportedError) as error:
            logger.debug("bot %s has no name for %s %s: %s", key.bot_id, key.kind, key.entity_id, error)
        return ""


def _line(name: str) -> str:
    return " ".join(name.split())[:MAX_NAME_CHARACTERS]


def _keys_without_name(envelope: EventEnvelope) -> list[NameKey]:
    """Returns the users and groups of a platform's event that have an id and no name."""
    if envelope.surface != PLATFORM_SURFACE or not envelope.bot_id:
        return []
    entities: list[tuple[Kind, Any]] = []
    data = envelope.data
    users = [data.get(name) for name in _USERS]
    member = data.get("member")
    users += [member.get("user")] if isinstance(member, dict) else []
    entities += [("user", each.get("id")) for each in users if isinstance(each, dict) and not each.get("nickname")]
    entities += [
        ("user", each.id) for each in (envelope.actor, envelope.subject) if each.type == "user" and not each.name
    ]
    group = _group(data)
    if group and not group.get("name"):
        entities.append(("group", group.get("id")))
    entities += [("user", each.get("sender")) for each in _quotes(envelope) if not each.get("name")]
    keys = (NameKey(envelope.bot_id, kind, entity_id) for kind, entity_id in entities if isinstance(entity_id, str))
    return list(dict.fromkeys(key for key in keys if key.entity_id))


def _group(data: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the group of an event; platform-specific events name only their chat."""
    group = data.get("group")
    if isinstance(group, dict):
        return group
    is_group_chat = group is None and data.get("chat_type") == "group"
    return {"id": data.get("chat_id")} if is_group_chat else {}


def _quotes(envelope: EventEnvelope) -> Iterable[dict[str, Any]]:
    contents = envelope.input.get("contents") or ()
    return [each for each in contents if isinstance(each, dict) and each.get("type") == "quote"]


def _with_names(envelope: EventEnvelope, names: dict[NameKey, str]) -> EventEnvelope:
    def name_of(kind: Kind, entity_id: Any) -> str:
        return names.get(NameKey(envelope.bot_id, kind, entity_id), "") if isinstance(entity_id, str) else ""

    def user(value: Any) -> Any:
        known_name = isinstance(value, dict) and not value.get("nickname") and name_of("user", value.get("id"))
        return {**value, "nickname": known_name} if known_name else value

    def party(value: Participant) -> Participant:
        known_name = value.type == "user" and not value.name and name_of("user", value.id)
        return replace(value, name=known_name) if known_name else value

    def quoted(element: Any) -> Any:
        is_unnamed_quote = (
            isinstance(element, dict) and element.get("type") in ("quote", "Quote") and not element.get("name")
        )
        known_name = name_of("user", element.get("sender")) if is_unnamed_quote else ""
        return {**element, "name": known_name} if known_name else element

    data = dict(envelope.data)
    data |= {name: user(data[name]) for name in _USERS if name in data}
    if isinstance(data.get("member"), dict):
        data["member"] = {**data["member"], "user": user(data["member"].get("user"))}
    group = _group(data)
    if group and not group.get("name"):
        data["group"] = {**group, "name": name_of("group", group.get("id"))}
    if isinstance(data.get("message_chain"), list):
        data["message_chain"] = [quoted(each) for each in data["message_chain"]]
    input_data = dict(envelope.input)
    if input_data.get("contents"):
        input_data["contents"] = [quoted(each) for each in input_data["contents"]]
    subject = party(envelope.subject)
    if subject.type == "group" and not subject.name:
        subject = replace(subject, name=name_of("group", subject.id))
    return replace(envelope, data=data, input=input_data, actor=party(envelope.actor), subject=subject)
