"""What a bot remembers while it runs: its own messages, sends that were cut short, and through whom it knows people."""

from collections import OrderedDict
from typing import Any

from .meetings import Meetings
from .values import number

MOST = 10_000


class Memory:
    def __init__(self) -> None:
        self.meetings = Meetings()
        self._ids: OrderedDict[str, None] = OrderedDict()
        self._parts: OrderedDict[str, list[str]] = OrderedDict()
        self._groups: OrderedDict[str, int] = OrderedDict()
        self._in_strings: set[str] = set()

    def sent(self, message_id: str) -> None:
        self._ids[message_id] = None
        if len(self._ids) > MOST:
            self._ids.popitem(last=False)

    def has_sent(self, message_id: str | None) -> bool:
        return message_id in self._ids

    def parts(self, key: str | None) -> list[str]:
        """The ids of the parts that went out under this key; a second try goes on after them."""
        if key is None:
            return []
        if len(self._parts) >= MOST:
            self._parts.popitem(last=False)
        return self._parts.setdefault(key, [])

    def done(self, key: str | None) -> None:
        self._parts.pop(key or "", None)

    def heard(self, account: str, message: Any) -> None:
        """Who reports messages as CQ strings gets answers in kind, by whichever connection they go."""
        (self._in_strings.add if isinstance(message, str) else self._in_strings.discard)(account)

    def speaks_strings(self, account: str) -> bool:
        return account in self._in_strings

    def met(self, payload: dict[str, Any]) -> None:
        """Somebody who is no friend writes through a group that both are in, and is answered through it."""
        if payload.get("message_type") != "private" or payload.get("sub_type") != "group":
            return
        sender = payload.get("sender")
        group = number(payload.get("group_id") or (sender.get("group_id") if isinstance(sender, dict) else None))
        if group:
            self._groups[str(payload.get("user_id"))] = group
            if len(self._groups) > MOST:
                self._groups.popitem(last=False)

    def group_of(self, user_id: str) -> int | None:
        return self._groups.get(user_id)
