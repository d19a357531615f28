"""Pipelines: a named bundle of an agent, a message policy and lists of extensions, which routes share."""

from dataclasses import asdict, field
from typing import Any

from parlour.core.encoding import dumps, loads
from parlour_sdk.values import dataclass

from .ids import AgentId, PipelineId
from .resource_policy import Names


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A pipeline answers like its agent, with a message policy of its own and at most the agent's resources."""

    pipeline_id: PipelineId
    name: str
    agent_id: AgentId
    description: str = ""
    message_policy: dict[str, Any] = field(default_factory=dict)
    """Given fields; they hold in place of the agent's own."""
    conversation_ttl: float | None = None
    """Seconds without messages after which a chat starts a new conversation; None means the agent's own."""
    plugins: Names = "*"
    """Plugins whose tools may be used."""
    mcp_servers: Names = "*"
    skills: Names = "*"
    enabled: bool = True

    @property
    def label(self) -> str:
        """Description of the pipeline for messages to operators."""
        return f"pipeline '{self.name}'"

    def encode(self) -> str:
        return dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> "Pipeline":
        fields = loads(text)
        lists = {name: _names(fields[name]) for name in ("plugins", "mcp_servers", "skills")}
        return cls(**{**fields, **lists})


def _names(value: Any) -> Names:
    return "*" if value == "*" else tuple(value)
