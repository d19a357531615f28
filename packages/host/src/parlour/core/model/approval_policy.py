"""An agent's approval policy: which platform actions are allowed, need a decision, or (by default) are denied."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Any, Literal

from parlour_sdk.values import dataclass

RuleDecision = Literal["allow", "ask", "deny"]
DEFAULT_EXPIRY_SECONDS = 1800.0
"""Seconds after which an approval expires, by default."""
ELSEWHERE_PREFIX = "elsewhere/"
"""Prefix of an action that is not about the event's own chat. Only a pattern with the same prefix matches it."""


@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """The decision for actions of one pattern, and who may approve them."""

    decision: RuleDecision = "deny"
    users: tuple[str, ...] = ()
    """Ids of the platform's users who may decide."""
    roles: tuple[str, ...] = ("owner", "admin")
    """Roles in the group whose members may decide."""
    requester: bool = False
    """True if the user on whose behalf the run acts may decide."""
    seconds: float = DEFAULT_EXPIRY_SECONDS
    show_in: Mapping[str, str] = field(default_factory=dict)
    """The chat in which it is asked: bot_id, chat_type, chat_id; by default the event's own chat."""


DENY_RULE = ApprovalRule()
ASK_RULE = ApprovalRule("ask")


def matches(name: str, pattern: str) -> bool:
    return pattern.startswith(ELSEWHERE_PREFIX) == name.startswith(ELSEWHERE_PREFIX) and fnmatchcase(name, pattern)


def is_granted(name: str, patterns: Iterable[str]) -> bool:
    """Returns whether one of a runner's permission patterns covers the action."""
    return any(matches(name, pattern) for pattern in patterns)


class ApprovalPolicy:
    """The rules of an agent, by pattern of action names."""

    def __init__(self, rules: Mapping[str, ApprovalRule]) -> None:
        self._rules = rules

    @classmethod
    def decode(cls, values: Mapping[str, Any]) -> "ApprovalPolicy":
        return cls({pattern: _rule(value) for pattern, value in values.items()})

    def rule(self, name: str, default: ApprovalRule = DENY_RULE) -> ApprovalRule:
        """Returns the rule with the longest matching pattern; the exact name wins over all patterns."""
        matching = [pattern for pattern in self._rules if matches(name, pattern)]
        if not matching:
            return default
        return self._rules[max(matching, key=lambda pattern: (pattern == name, len(pattern)))]


def _rule(value: Any) -> ApprovalRule:
    if isinstance(value, str):
        return ApprovalRule(value)  # type: ignore[arg-type]  # validated when it was saved
    deciders = value.get("who") or {}
    return ApprovalRule(
        decision=value["decision"],
        users=tuple(deciders.get("users", ())),
        roles=tuple(deciders.get("roles", DENY_RULE.roles)),
        requester=bool(deciders.get("requester", False)),
        seconds=float(value.get("seconds", DEFAULT_EXPIRY_SECONDS)),
        show_in=dict(value.get("show_in") or {}),
    )
