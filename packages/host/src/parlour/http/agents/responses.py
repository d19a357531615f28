"""Response schema of an agent."""

from typing import Any, Literal

from typing_extensions import TypedDict

from ..responses import Id
from .schemas import Names, ResourceKind


class SenderResponse(TypedDict):
    users: list[str]
    groups: list[str]
    roles: list[str]
    chat_type: str


class ResourceRule(TypedDict):
    """Adds to or takes from what is granted, for some senders."""

    when: SenderResponse
    allow: dict[ResourceKind, Names]
    deny: dict[ResourceKind, Names]


class ResourcePolicyResponse(TypedDict):
    """What the agent may use, beyond what its configuration selects."""

    models: Names
    tools: Names
    knowledge_bases: Names
    skills: Names
    files: Names
    plugins: Names
    mcp_servers: Names
    storage: list[str]
    cross_conversation_history: bool
    rules: list[ResourceRule]


class StatePolicyResponse(TypedDict):
    enabled: bool
    scopes: list[str]


class AgentResponse(TypedDict):
    agent_id: Id
    name: str
    runner_id: str
    """Of GET /runners."""
    description: str
    runner_config: dict[str, Any]
    """As the runner's form asks for it; a secret is masked, and stays as it is when it comes back so."""
    resource_policy: ResourcePolicyResponse
    state_policy: StatePolicyResponse
    delivery_policy: dict[str, Any]
    """What differs from the defaults."""
    approval_policy: dict[str, Any]
    restart_policy: Literal["auto", "never", "always"]
    timeout_seconds: float
    """0: none."""
    stale_after: float
    """Seconds after which an event is no longer answered; 0: never."""
    conversation_ttl: float
    """Seconds of silence after which a chat begins anew; 0: never."""
    journal_calls: bool
    event_types: list[str]
    enabled: bool
