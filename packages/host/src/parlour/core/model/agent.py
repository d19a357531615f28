"""The product object: a runner with a configuration and policies. One agent can serve many bots and channels."""

from dataclasses import asdict, field
from typing import Any, Literal

from parlour.core.encoding import dumps, loads
from parlour_sdk.values import dataclass

from .delivery_policy import bounded
from .event_pattern import covers
from .resource_policy import ResourcePolicy

RestartPolicy = Literal["auto", "never", "always"]
STATE_SCOPES = ("conversation", "actor", "subject", "binding")
"""On for new agents; a stored agent names its own. `runner` is shared by all agents of a workspace and stays off."""


@dataclass(frozen=True, slots=True)
class StatePolicy:
    enabled: bool = True
    scopes: tuple[str, ...] = STATE_SCOPES


@dataclass(frozen=True, slots=True)
class Agent:
    agent_id: str
    name: str
    runner_id: str
    description: str = ""
    runner_config: dict[str, Any] = field(default_factory=dict)
    resource_policy: ResourcePolicy = field(default_factory=ResourcePolicy)
    state_policy: StatePolicy = StatePolicy()
    delivery_policy: dict[str, Any] = field(default_factory=dict)
    approval_policy: dict[str, Any] = field(default_factory=dict)
    restart_policy: RestartPolicy = "auto"
    timeout_seconds: float = 300
    """0 means none."""
    stale_after: float = 600
    """Seconds after which an event is no longer answered; 0 means never."""
    conversation_ttl: float = 0
    """Seconds of silence after which a chat begins anew; 0 means never."""
    journal_calls: bool = False
    """Whether the answers of a run's calls are kept, so that a repeated run neither pays nor acts twice."""
    event_types: tuple[str, ...] = ("message.received",)
    """Each is a type, `namespace.*` or `*`."""
    enabled: bool = True

    def takes(self, event_type: str) -> bool:
        return any(covers(pattern, event_type) for pattern in self.event_types)

    def encode(self) -> str:
        return dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> "Agent":
        fields = loads(text)
        policy, resources = fields.pop("state_policy"), fields.pop("resource_policy")
        delivery = fields.pop("delivery_policy", {})
        return cls(
            **{**fields, "event_types": tuple(fields["event_types"])},
            delivery_policy=bounded(delivery),
            resource_policy=ResourcePolicy.decode(resources),
            state_policy=StatePolicy(policy["enabled"], tuple(policy["scopes"])),
        )


@dataclass(frozen=True, slots=True)
class Binding:
    """Which agent serves an event, resolved per event. Its identity ties state to a configuration."""

    agent: Agent
    bot_id: str
    reason: str = ""
    """Why this agent, in words."""
    scope: str = ""
    """Whose claim it is: a default agent's, or `bot` for a route's; empty where the caller named the agent."""

    @property
    def binding_id(self) -> str:
        return f"{self.agent.agent_id}:{self.bot_id}"
