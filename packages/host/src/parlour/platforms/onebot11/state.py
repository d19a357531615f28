"""Holds the state of running bots in memory: sent messages, the accounts that saw an id, and connected accounts."""

import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from parlour_sdk.protocol.people import GroupMember, User
from parlour_sdk.protocol.platform_events import PlatformEvent

from .payloads import identifier, number

MAX_CACHED_ENTRIES = 10_000
MAX_CACHED_KEYS = 10_000
"""Maximum number of keys remembered for each kind."""
ACCOUNT_BOUND_KINDS = ("request", "message")
"""Kinds whose ids are known only to the account that received them."""
RoutingKey = tuple[str, ...]
RECONNECT_GRACE_SECONDS = 60.0
"""Seconds for which a disconnected account still counts, because an interrupted connection usually comes back."""
ChangeListener = Callable[[], None]


class OneBotState:
    """State of one bot, held in memory."""

    def __init__(self) -> None:
        self.routing = AccountRouting()
        self._ids: OrderedDict[tuple[str, str], None] = OrderedDict()
        """Ids of sent messages, with their account: each implementation numbers messages in its own way."""
        self._parts: OrderedDict[str, list[str]] = OrderedDict()
        self._groups: OrderedDict[tuple[str, str], int] = OrderedDict()
        """Group through which a user writes, by account and user."""
        self._in_strings: set[str] = set()

    def record_sent(self, account: str, message_id: str) -> None:
        self._ids[account, message_id] = None
        if len(self._ids) > MAX_CACHED_ENTRIES:
            self._ids.popitem(last=False)

    def has_sent(self, account: str, message_id: str | None) -> bool:
        return (account, message_id) in self._ids

    def sent_parts(self, key: str | None) -> list[str]:
        """Returns the ids of the parts that were sent under this key; another attempt continues after them."""
        if key is None:
            return []
        if len(self._parts) >= MAX_CACHED_ENTRIES:
            self._parts.popitem(last=False)
        return self._parts.setdefault(key, [])

    def clear_parts(self, key: str | None) -> None:
        self._parts.pop(key or "", None)

    def record_format(self, account: str, message: Any) -> None:
        """Records the format of an account: one that reports messages as CQ strings is sent CQ strings, on any
        connection.
        """
        (self._in_strings.add if isinstance(message, str) else self._in_strings.discard)(account)

    def uses_cq_strings(self, account: str) -> bool:
        return account in self._in_strings

    def record_private_group(self, account: str, payload: dict[str, Any]) -> None:
        """Records the group through which a user who is no friend writes.

        Replies use it until the user writes as a friend.
        """
        if payload.get("message_type") != "private":
            return
        key = account, str(payload.get("user_id"))
        group = _temporary_group(payload) if payload.get("sub_type") == "group" else None
        if group:
            self._groups[key] = group
            if len(self._groups) > MAX_CACHED_ENTRIES:
                self._groups.popitem(last=False)
        elif payload.get("sub_type") == "friend":
            self._groups.pop(key, None)

    def private_group(self, account: str, user_id: str) -> int | None:
        return self._groups.get((account, user_id))


def _temporary_group(payload: dict[str, Any]) -> int | None:
    sender = payload.get("sender")
    return number(payload.get("group_id") or (sender.get("group_id") if isinstance(sender, dict) else None))


def request_key(flag: str) -> RoutingKey:
    return "request", flag


def message_key(chat_type: str, chat_id: str, message_id: str) -> RoutingKey:
    return "message", chat_type, chat_id, message_id


def chat_key(chat_type: str, chat_id: str) -> RoutingKey:
    return chat_type, chat_id


def user_key(user_id: str) -> RoutingKey:
    return "user", user_id


def routing_keys(payload: dict[str, Any]) -> Iterator[RoutingKey]:
    """Yields the routing keys of an event or of an action's parameters, the most specific first."""
    flag, message_id, group, user_id = (
        _id(payload.get(name)) for name in ("flag", "message_id", "group_id", "user_id")
    )
    in_group = group and payload.get("message_type") != "private"
    place_type, target = ("group", group) if in_group else ("private", user_id)
    if flag:
        yield request_key(flag)
    if message_id:
        yield message_key(place_type, target, message_id)
    if target:
        yield chat_key(place_type, target)
    if user_id:
        yield user_key(user_id)


class AccountRouting:
    """Maps routing keys to the account that saw them last."""

    def __init__(self) -> None:
        self._accounts: dict[str, OrderedDict[RoutingKey, str]] = {}

    def record(self, account: str, *names: RoutingKey) -> None:
        for name in names:
            accounts = self._accounts.setdefault(name[0], OrderedDict())
            accounts[name] = account
            accounts.move_to_end(name)
            if len(accounts) > MAX_CACHED_KEYS:
                accounts.popitem(last=False)

    def account_for(self, name: RoutingKey) -> str:
        """Returns the account of a key; empty if it is not known."""
        accounts = self._accounts.get(name[0])
        return accounts.get(name, "") if accounts is not None else ""


def _id(value: Any) -> str:
    try:
        return identifier(value)
    except ValueError:
        return ""


class ConnectedAccounts:
    """Accounts of all OneBot bots of one Host. Bots know nothing of each other; this is the only object they share."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._connections: defaultdict[str, list[ChangeListener]] = defaultdict(list)
        """Bots that serve each account, each represented by the callback that is called when others connect or
        disconnect.
        """
        self._left_at: dict[str, float] = {}

    def add(self, account: str, bot: ChangeListener) -> None:
        self._connections[account].append(bot)
        self._notify_others(account, bot)

    def remove(self, account: str, bot: ChangeListener) -> None:
        now = self._clock()
        self._left_at = {
            each: moment for each, moment in self._left_at.items() if moment > now - RECONNECT_GRACE_SECONDS
        }
        self._connections[account].remove(bot)
        self._notify_others(account, bot)
        if not self._connections[account]:
            del self._connections[account]
            self._left_at[account] = now

    def is_shared(self, account: str, bot: ChangeListener) -> bool:
        """Returns whether the account is connected to another bot too."""
        return any(each != bot for each in self._connections.get(account, ()))

    def _notify_others(self, account: str, bot: ChangeListener) -> None:
        for connection in self._connections[account]:
            if connection != bot:
                connection()

    def __contains__(self, user_id: str) -> bool:
        left_at = self._left_at.get(user_id)
        return user_id in self._connections or (
            left_at is not None and left_at > self._clock() - RECONNECT_GRACE_SECONDS
        )

    def mark_bots(self, event: PlatformEvent) -> PlatformEvent:
        """Returns the event with every user who is one of these accounts marked as a bot."""
        fields = {name: getattr(event, name) for name in type(event).model_fields}
        bots = {name: marked for name, value in fields.items() if (marked := self._bot(value)) is not None}
        return event.model_copy(update=bots) if bots else event

    def _bot(self, value: object) -> User | GroupMember | None:
        match value:
            case User() if value.id in self:
                return value.model_copy(update={"is_bot": True})
            case GroupMember() if value.user.id in self:
                return value.model_copy(update={"user": self._bot(value.user)})
        return None
