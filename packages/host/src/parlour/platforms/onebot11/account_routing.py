"""Remembers through which account of the bot a request, a message, a group or a user was last seen.

A call that names one of them and no account uses that account: for other accounts the id is unknown or someone else's.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from .values import identifier

MOST = 10_000
"""Maximum number of keys remembered for each kind."""
BOUND = ("request", "message")
"""Kinds whose ids are known only to the account that received them."""
Name = tuple[str, ...]


def request(flag: str) -> Name:
    return "request", flag


def message(chat_type: str, chat_id: str, message_id: str) -> Name:
    return "message", chat_type, chat_id, message_id


def chat(chat_type: str, chat_id: str) -> Name:
    return chat_type, chat_id


def user(user_id: str) -> Name:
    return "user", user_id


def named_in(told: dict[str, Any]) -> Iterator[Name]:
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


class Meetings:
    """Maps routing keys to the account that saw them last."""

    def __init__(self) -> None:
        self._accounts: dict[str, OrderedDict[Name, str]] = {}

    def met(self, account: str, *names: Name) -> None:
        for name in names:
            known = self._accounts.setdefault(name[0], OrderedDict())
            known[name] = account
            known.move_to_end(name)
            if len(known) > MOST:
                known.popitem(last=False)

    def account(self, name: Name) -> str:
        """Returns the account of a key; empty if it is not known."""
        known = self._accounts.get(name[0])
        return known.get(name, "") if known is not None else ""


def _id(value: Any) -> str:
    try:
        return identifier(value)
    except ValueError:
        return ""
