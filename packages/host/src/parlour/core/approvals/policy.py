"""An agent's approval policy: which platform actions are allowed, need a decision, or (by default) are denied."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Any, Literal

from parlour_sdk.values import dataclass

Decision = Literal["allow", "ask", "deny"]
SECONDS = 1800.0
"""Seconds after which an approval expires, by default."""
ELSEWHERE = "elsewhere/"
"""Prefix of an action that is not about the event's own chat. Only a pattern with the same prefix matches it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The decision for actions of one pattern, and who may approve them."""

    decision: Decision = "deny"
    users: tuple[str, ...] = ()
    """Ids of the platform's users who may decide."""
    roles: tuple[str, ...] = ("owner", "admin")
    """Roles in the group whose members may decide."""
    requester: bool = False
    """True if the user on whose behalf the run acts may decide."""
    seconds: float = SECONDS
    show_in: Mapping[str, str] = field(default_factory=dict)
    """The chat in which it is asked: bot_id, chat_type, chat_id; by default the event's own chat."""


DENY = Rule()


def matches(name: str, pattern: str) -> bool:
    return pattern.startswith(ELSEWHERE) == name.startswith(ELSEWHERE) and fnmatchcase(name, pattern)


def granted(name: str, patterns: Iterable[str]) -> bool:
    """Returns whether one of a runner's permission patterns covers the action."""
    return any(matches(name, pattern) for pattern in patterns)


class ApprovalPolicy:
    """The rules of an agent, by pattern of action names."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self._rules = rules

    @classmethod
    def decode(cls, values: Mapping[str, Any]) -> "ApprovalPolicy":
        return cls({pattern: _rule(value) for pattern, value in values.items()})

    def rule(self, name: str) -> Rule:
        """Returns the rule with the longest matching pattern; the exact name wins over all patterns."""
        fitting = [pattern for pattern in self._rules if matches(name, pattern)]
        if not fitting:
            return DENY
        return self._rules[max(fitting, key=lambda pattern: (pattern == name, len(pattern)))]


def _rule(value: Any) -> Rule:
    if isinstance(value, str):
        return Rule(value)  # type: ignore[arg-type]  # validated when it was saved
    who = value.get("who") or {}
    return Rule(
        decision=value["decision"],
        users=tuple(who.get("users", ())),
        roles=tuple(who.get("roles", DENY.roles)),
        requester=bool(who.get("requester", False)),
        seconds=float(value.get("seconds", SECONDS)),
        show_in=dict(value.get("show_in") or {}),
    )
