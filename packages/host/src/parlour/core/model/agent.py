"""Agents: a runner with a configuration and policies. One agent can serve many bots and channels."""

from dataclasses import asdict, field
from typing import Any, Literal

from parlour.core.encoding import dumps, loads
from parlour_sdk.values import dataclass

from .delivery_policy import with_min_message_size
from .doors import Door
from .event_pattern import pattern_matches
from .ids import NO_LIMITS, AgentId, BindingId, BotId, LimitPolicyId, RunnerId
from .pipeline import Pipeline
from .resource_policy import ResourcePolicy

RestartPolicy = Literal["auto", "never", "always"]
STATE_SCOPES = ("conversation", "actor", "subject", "binding")
"""State scopes that are on for new agents; a stored agent names its own.

`runner` is shared by all agents of a workspace and stays off.
"""


@dataclass(frozen=True, slots=True)
class StatePolicy:
    """Decides in which scopes an agent's runner may keep state."""

    enabled: bool = True
    scopes: tuple[str, ...] = STATE_SCOPES


@dataclass(frozen=True, slots=True)
class Agent:
    """A configured runner with its permissions and policies."""

    agent_id: AgentId
    name: str
    runner_id: RunnerId
    description: str = ""
    runner_config: dict[str, Any] = field(default_factory=dict)
    resource_policy: ResourcePolicy = field(default_factory=ResourcePolicy)
    state_policy: StatePolicy = StatePolicy()
    delivery_policy: dict[str, Any] = field(default_factory=dict)
    approval_policy: dict[str, Any] = field(default_factory=dict)
    tool_policy: tuple[dict[str, Any], ...] = ()
    """Entries `{tools: [patterns], decide, who?, seconds?}`; the first one that matches a tool decides."""
    box_policy: dict[str, Any] = field(default_factory=dict)
    memory_policy: dict[str, Any] = field(default_factory=dict)
    """Given fields of the memory policy; empty means that nothing is remembered."""
    restart_policy: RestartPolicy = "auto"
    timeout_seconds: float = 300
    """Seconds that a run may take; 0 means no limit."""
    stale_after: float = 600
    """Seconds after which an event is no longer answered; 0 means never."""
    conversation_ttl: float = 0
    """Seconds without messages after which a chat starts a new conversation; 0 means never."""
    journal_calls: bool = False
    """True if the answers of a run's calls are stored, so that a repeated run neither pays nor acts twice."""
    event_types: tuple[str, ...] = ("message.received",)
    """Accepted event types; each is a type, `namespace.*` or `*`."""
    message_policy: dict[str, Any] = field(default_factory=dict)
    """Given fields of the message policy; empty means that nothing is decided."""
    published: tuple[Door, ...] = ()
    """Doors through which clients of common standards may use it."""
    on_workers: bool = False
    """True if workers on other machines execute its runs."""
    worker_labels: tuple[str, ...] = ()
    """Labels that a worker needs to execute them."""
    enabled: bool = True

    def accepts(self, event_type: str) -> bool:
        return any(pattern_matches(pattern, event_type) for pattern in self.event_types)

    def encode(self) -> str:
        return dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> "Agent":
        fields = loads(text)
        policy, resources = fields.pop("state_policy"), fields.pop("resource_policy")
        delivery, tool_policy = fields.pop("delivery_policy", {}), fields.pop("tool_policy", ())
        published, worker_labels = fields.pop("published", ()), fields.pop("worker_labels", ())
        return cls(
            **{**fields, "event_types": tuple(fields["event_types"])},
            tool_policy=tuple(tool_policy),
            published=tuple(published),
            worker_labels=tuple(worker_labels),
            delivery_policy=with_min_message_size(delivery),
            resource_policy=ResourcePolicy.decode(resources),
            state_policy=StatePolicy(policy["enabled"], tuple(policy["scopes"])),
        )


@dataclass(frozen=True, slots=True)
class Binding:
    """An agent as it applies to one event, resolved per event. State is stored under its id."""

    agent: Agent
    bot_id: BotId
    reason: str = ""
    """Explanation why this agent was chosen."""
    scope: str = ""
    """Origin of the choice: a default agent's scope, `bot` for a route, or empty if the caller named the agent."""
    limits_owner: LimitPolicyId = NO_LIMITS
    """Owner of the counters of the message policy's limits."""
    pipeline: Pipeline | None = None
    """Pipeline by which the agent was chosen; it limits the extensions that a run may use."""

    @property
    def binding_id(self) -> BindingId:
        return BindingId(f"{self.agent.agent_id}:{self.bot_id}")
