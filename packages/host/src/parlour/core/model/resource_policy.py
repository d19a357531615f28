"""The resource policy of an agent: which resources it may use, for which senders.

It is evaluated once per run; the result is fixed as the run's grant.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from parlour_sdk.protocol.rules.permissions import ResourceKind
from parlour_sdk.values import dataclass

from .chats import PLATFORM_SURFACE
from .event import EventEnvelope

Names = Literal["*"] | tuple[str, ...]
RESOURCE_KINDS: tuple[ResourceKind, ...] = ("models", "tools", "knowledge_bases", "skills", "files")


@dataclass(frozen=True, slots=True)
class SenderCondition:
    """Describes the senders to which a rule applies: every part that is set must match.

    `groups` match only chats of a platform, because an API caller chooses the name of its conversation itself.
    """

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    chat_type: str = ""

    def matches(self, event: EventEnvelope) -> bool:
        role = event.actor.data.get("role")
        chat_type = event.data.get("chat_type")
        return (
            (not self.users or event.actor.id in self.users)
            and (not self.groups or (in_platform_group(event) and event.chat in self.groups))
            and (not self.roles or role in self.roles)
            and (not self.chat_type or chat_type == self.chat_type)
        )


def in_platform_group(event: EventEnvelope) -> bool:
    """Returns whether an event is from a group on a chat platform."""
    return event.surface == PLATFORM_SURFACE and event.data.get("chat_type") == "group"


@dataclass(frozen=True, slots=True)
class Rule:
    """Adds resources to the policy's grant, or removes them, for some senders."""

    when: SenderCondition
    allow: Mapping[str, Names] = field(default_factory=dict)
    deny: Mapping[str, Names] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResourcePolicy:
    """Names the resources that an agent may use, with rules for single senders."""

    models: Names = ()
    tools: Names = ()
    knowledge_bases: Names = ()
    skills: Names = "*"
    files: Names = ()
    plugins: Names = "*"
    """Plugins whose runners may serve the agent."""
    mcp_servers: Names = ()
    """MCP servers of which all tools are granted."""
    storage: tuple[str, ...] = ("plugin", "binding")
    cross_conversation_history: bool = False
    rules: tuple[Rule, ...] = ()

    def granted_names(self, kind: ResourceKind, event: EventEnvelope) -> "Selection":
        """Returns the resources of a kind that this policy grants to the sender of this event."""
        selection = Selection.parse(getattr(self, kind))
        for rule in self.rules:
            if rule.when.matches(event):
                selection = selection.plus(rule.allow.get(kind, ())).minus(rule.deny.get(kind, ()))
        return selection

    def denied_names(self, kind: ResourceKind, event: EventEnvelope) -> "Selection":
        """Returns the resources that the rules finally deny this sender, even if the configuration selects them."""
        selection = Selection(False, frozenset())
        for rule in self.rules:
            if rule.when.matches(event):
                selection = selection.minus(rule.allow.get(kind, ())).plus(rule.deny.get(kind, ()))
        return selection

    @classmethod
    def decode(cls, values: Mapping[str, Any]) -> "ResourcePolicy":
        fields: dict[str, Any] = {name: _names(values[name]) for name in _NAMED if name in values}
        if "storage" in values:
            fields["storage"] = tuple(values["storage"])
        if "cross_conversation_history" in values:
            fields["cross_conversation_history"] = bool(values["cross_conversation_history"])
        return cls(**fields, rules=tuple(_rule(rule) for rule in values.get("rules", ())))


@dataclass(frozen=True, slots=True)
class Selection:
    """A set of names: either the listed ones, or all except the listed ones."""

    everything: bool
    listed: frozenset[str]
    """Included names, or excluded ones if `everything` is true."""

    @classmethod
    def parse(cls, names: Names) -> "Selection":
        return cls(True, frozenset()) if names == "*" else cls(False, frozenset(names))

    def plus(self, names: Names) -> "Selection":
        if names == "*":
            return Selection(True, frozenset())
        return Selection(self.everything, self.listed - set(names) if self.everything else self.listed | set(names))

    def minus(self, names: Names) -> "Selection":
        if names == "*":
            return Selection(False, frozenset())
        return Selection(self.everything, self.listed | set(names) if self.everything else self.listed - set(names))

    def __contains__(self, name: str) -> bool:
        return (name in self.listed) != self.everything


_NAMED = (*RESOURCE_KINDS, "plugins", "mcp_servers")


def _names(value: Any) -> Names:
    return "*" if value == "*" else tuple(value)


def _rule(values: Mapping[str, Any]) -> Rule:
    sender_values = values.get("when", {})
    users, groups, roles = (tuple(sender_values.get(part, ())) for part in ("users", "groups", "roles"))
    sender = SenderCondition(users, groups, roles, sender_values.get("chat_type", ""))
    return Rule(
        sender,
        {kind: _names(names) for kind, names in values.get("allow", {}).items()},
        {kind: _names(names) for kind, names in values.get("deny", {}).items()},
    )
