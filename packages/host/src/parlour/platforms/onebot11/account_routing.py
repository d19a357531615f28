"""Remembers through which account of the bot a request, a message, a group or a user was last seen.

A call that names one of them and no account uses that account: for other accounts the id is unknown or someone else's.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from .values import identifier

MAX_CACHED_KEYS = 10_000
"""Maximum number of keys remembered for each kind."""
ACCOUNT_BOUND_KINDS = ("request", "message")
"""Kinds whose ids are known only to the account that received them."""
RoutingKey = tuple[str, ...]


def request(flag: str) -> RoutingKey:
    return "request", flag


def message(chat_type: str, chat_id: str, message_id: str) -> RoutingKey:
    return "message", chat_type, chat_id, message_id


def chat(chat_type: str, chat_id: str) -> RoutingKey:
    return chat_type, chat_id


def user(user_id: str) -> RoutingKey:
    return "user", user_id


def routing_keys(told: dict[str, Any]) -> Iterator[RoutingKey]:
    """Yields the routing keys of an event or of an action's parameters, the most specific first."""
    flag, message_id, group, person = (_id(told.get(name)) for name in ("flag", "message_id", "group_id", "user_id"))
    in_group = group and told.get("message_type") != "private"
    place_type, place = ("group", group) if in_group else ("private", person)
    if flag:
        yield request(flag)
    if message_id:
        yield message(place_type, place, message_id)
    if place:
        yield chat(place_type, place)
    if person:
        yield user(person)


class AccountRouting:
    """Maps routing keys to the account that saw them last."""

    def __init__(self) -> None:
        self._accounts: dict[str, OrderedDict[RoutingKey, str]] = {}

    def record(self, account: str, *names: RoutingKey) -> None:
        for name in names:
            known = self._accounts.setdefault(name[0], OrderedDict())
            known[name] = account
            known.move_to_end(name)
            if len(known) > MAX_CACHED_KEYS:
                known.popitem(last=False)

    def account_for(self, name: RoutingKey) -> str:
        """Returns the account of a key; empty if it is not known."""
        known = self._accounts.get(name[0])
        return known.get(name, "") if known is not None else ""


def _id(value: Any) -> str:
    try:
        return identifier(value)
    except ValueError:
        return ""
