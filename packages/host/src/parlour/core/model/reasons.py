"""Reasons why a route or agent does not accept an event: an English text, with a code and values for translations."""

from typing import Any

ENGLISH = {
    "disabled": "it is disabled",
    "other_type": "it is not for {event_type}",
    "unnamed_bot": "a bot wrote it, and the filter users does not name that bot",
    "no_chat": "chat_type: it has no chat",
    "chat_type": "chat_type: it is {found}, not {wanted}",
    "no_group": "groups: it happened in no group",
    "groups": "groups: group {group} is not among them",
    "users": "users: {user} is not among them",
    "nobody": "users: it is by nobody",
    "roles": "roles: the sender's role is {role}",
    "no_role": "roles: the sender has no role",
    "unmentioned": "mentions_bot: the bot is not mentioned",
    "mentioned": "mentions_bot: the bot is mentioned",
    "text_prefix": "text_prefix: the text begins otherwise",
    "text_keyword": "text_keyword: the text has no such word",
    "text_regex": "text_regex: the text does not match",
    "slow_regex": "text_regex: it took longer than {seconds} s; write it more simply",
    "spent_regex": "text_regex: it was not tried, since others took most of the {seconds} s of an event",
    "probability": "probability: the draw was {drawn}, not below {wanted}",
    "time_window": "time_window: it happened outside of it",
    "data": "data: {path} is another",
    "by_bot": "a bot wrote it",
    "unaddressed": "the bot is not addressed",
    "untaken": "it does not take {event_type}",
    "listened": "plugins listen to it",
    "policy_ignored_bot": "message policy: a bot wrote it",
    "policy_ignored_prefix": "message policy: it begins as ignored messages do",
    "policy_ignored_regex": "message policy: it matches an expression of ignored messages",
    "policy_denied": "message policy: the access list denies {entry}",
    "policy_not_allowed": "message policy: the access list does not allow its sender or chat",
    "policy_not_called": "message policy: no rule for groups wakes the agent",
    "policy_not_called_private": "message policy: no rule for private chats wakes the agent",
    "unknown_handler": "handler type {handler_type} is unknown to this version",
}


class Reason(str):
    """English text of a reason, as it is used in trails and logs, with its code and values."""

    __slots__ = ("code", "values")
    code: str
    values: dict[str, Any]


def make_reason(code: str, **values: Any) -> Reason:
    """Builds the reason of a code."""
    reason = Reason(ENGLISH[code].format_map(values))
    reason.code, reason.values = code, values
    return reason
