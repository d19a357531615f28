"""An agent's tool policy: which tool calls are executed, need a person's decision, or are refused."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from parlour.core.model.approval_policy import DEFAULT_EXPIRY_SECONDS, DENY_RULE, ApprovalRule
from parlour_sdk.values import dataclass

ALLOW_RULE: Final = ApprovalRule("allow")


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """The entries of an agent in their order: patterns of tool names, with the rule for these tools."""

    entries: tuple[tuple[tuple[str, ...], ApprovalRule], ...] = ()

    @classmethod
    def decode(cls, values: Sequence[Mapping[str, Any]]) -> "ToolPolicy":
        return cls(tuple((tuple(value["tools"]), _rule(value)) for value in values))

    def rule(self, tool_name: str, default: ApprovalRule = ALLOW_RULE) -> ApprovalRule:
        """Returns the rule of the first entry that matches the tool, or the default if none does."""
        for patterns, rule in self.entries:
            if any(fnmatchcase(tool_name, pattern) for pattern in patterns):
                return rule
        return default


def _rule(value: Mapping[str, Any]) -> ApprovalRule:
    deciders = value.get("who") or {}
    return ApprovalRule(
        decision=value["decide"],
        users=tuple(deciders.get("users", ())),
        roles=tuple(deciders.get("roles", DENY_RULE.roles)),
        requester=bool(deciders.get("requester", False)),
        seconds=float(value.get("seconds", DEFAULT_EXPIRY_SECONDS)),
    )
