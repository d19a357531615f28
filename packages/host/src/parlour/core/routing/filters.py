"""Filters of routes: each tests one property of an event.

The same event always passes or fails the same way, except that slow regular expressions can time out.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from parlour.core.model.event import EventEnvelope
from parlour.core.model.reasons import Reason, make_reason
from parlour.core.model.regex_budget import RegexMatcher

from .time_windows import is_within

FilterTest = Callable[[Any, EventEnvelope, int], Reason | None]
"""Test of one filter: returns the reason why the event does not pass, None if it does."""


def first_mismatch(
    filters: Mapping[str, Any], event: EventEnvelope, now: int, regexes: RegexMatcher, position: int = 0
) -> Reason | None:
    """Returns the reason of the first filter that does not match; None if all match.

    `now` is used for events without a time; `position` is that of the route in the order of matching.
    """
    for name, test in _TESTS.items():
        if name in filters and (reason := test(filters[name], event, now)):
            return reason
    if "probability" in filters and (reason := _probability(filters["probability"], event, position)):
        return reason
    return regexes.mismatch(filters["text_regex"], event) if "text_regex" in filters else None


def _chat_type(expected: Any, event: EventEnvelope, now: int) -> Reason | None:
    chat_type = event.data.get("chat_type")
    if not chat_type:
        return make_reason("no_chat")
    return None if chat_type == expected else make_reason("chat_type", found=chat_type, wanted=expected)


def _groups(expected: Any, event: EventEnvelope, now: int) -> Reason | None:
    group = _group(event)
    if not group:
        return make_reason("no_group")
    return None if group in expected else make_reason("groups", group=group)


def _group(event: EventEnvelope) -> str:
    if event.data.get("chat_type") == "group":
        return str(event.data.get("chat_id", ""))
    group = event.data.get("group")
    return str(group.get("id", "")) if isinstance(group, Mapping) else ""


def _users(expected: Any, event: EventEnvelope, now: int) -> Reason | None:
    if event.actor.id in expected:
        return None
    return make_reason("users", user=event.actor.id) if event.actor.id else make_reason("nobody")


def _roles(expected: Any, event: EventEnvelope, now: int) -> Reason | None:
    role = event.actor.data.get("role")
    if role in expected:
        return None
    return make_reason("roles", role=role) if role else make_reason("no_role")


def mentions_bot(event: EventEnvelope) -> bool:
    """Returns whether a message is addressed to the bot; every private message is."""
    return bool(event.data.get("mentions_bot")) or event.data.get("chat_type") == "private"


def _mentions_bot(expected: Any, event: EventEnvelope, now: int) -> Reason | None:
    if mentions_bot(event) == expected:
        return None
    return make_reason("unmentioned" if expected else "mentioned")


def _text_prefix(expected: Any, event: EventEnvelope, now: int) -> Reason | None:
    text = event.text.lstrip()
    return None if any(text.startswith(each.lstrip()) for each in _as_list(expected)) else make_reason("text_prefix")


def _text_keyword(expected: Any, event: EventEnvelope, now: int) -> Reason | None:
    text = event.text.casefold()
    return None if any(each.casefold() in text for each in _as_list(expected)) else make_reason("text_keyword")


def _probability(expected: float, event: EventEnvelope, position: int) -> Reason | None:
    """Tests the filter `probability` with a number derived from the event and the route's position.

    The event makes the result the same on every evaluation, even after a restart. The position makes the draws of
    successive routes independent.
    """
    digest = hashlib.sha256(f"{event.bot_id}\n{event.event_id}\n{position}".encode(errors="replace")).digest()
    drawn = int.from_bytes(digest[:8]) / 2**64
    return None if drawn < expected else make_reason("probability", drawn=f"{drawn:.3f}", wanted=f"{expected:g}")


def _time_window(expected: Any, event: EventEnvelope, now: int) -> Reason | None:
    return None if is_within(expected, event.event_time or now) else make_reason("time_window")


def _data(expected: Any, event: EventEnvelope, now: int) -> Reason | None:
    for path, value in expected.items():
        actual = _value_at(event.data, path)
        if actual != value or isinstance(actual, bool) != isinstance(value, bool):  # 1 is not true
            return make_reason("data", path=path)
    return None


def _value_at(data: Any, path: str) -> Any:
    """Returns the value at a path such as `sender.nickname` or `changed_fields.0`; None if there is none."""
    for part in path.split("."):
        if isinstance(data, Mapping):
            data = data.get(part)
        elif isinstance(data, list) and part.isdecimal() and int(part) < len(data):
            data = data[int(part)]
        else:
            return None
    return data


def _as_list(expected: Any) -> list[str]:
    return [expected] if isinstance(expected, str) else expected


_TESTS: dict[str, FilterTest] = {
    "chat_type": _chat_type,
    "groups": _groups,
    "users": _users,
    "roles": _roles,
    "mentions_bot": _mentions_bot,
    "data": _data,
    "time_window": _time_window,
    "text_prefix": _text_prefix,
    "text_keyword": _text_keyword,
}
"""Tests by filter, the cheapest first. `probability` follows after them, and `text_regex`, the most expensive, last."""
