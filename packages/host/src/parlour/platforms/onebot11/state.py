"""Holds the state of a running bot in memory: ids of its own messages, partly completed sends, and the group through
which it knows a user.
"""

from collections import OrderedDict
from typing import Any

from .account_routing import AccountRouting
from .values import number

MAX_CACHED_ENTRIES = 10_000


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
        person = account, str(payload.get("user_id"))
        group = _temporary_group(payload) if payload.get("sub_type") == "group" else None
        if group:
            self._groups[person] = group
            if len(self._groups) > MAX_CACHED_ENTRIES:
                self._groups.popitem(last=False)
        elif payload.get("sub_type") == "friend":
            self._groups.pop(person, None)

    def private_group(self, account: str, user_id: str) -> int | None:
        return self._groups.get((account, user_id))


def _temporary_group(payload: dict[str, Any]) -> int | None:
    sender = payload.get("sender")
    return number(payload.get("group_id") or (sender.get("group_id") if isinstance(sender, dict) else None))
