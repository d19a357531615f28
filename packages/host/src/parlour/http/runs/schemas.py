"""Request schema of a rerun."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from parlour.core.model.ids import AgentId
from parlour.core.model.resource_policy import Names
from parlour.core.reruns.reruns import RerunOptions


class RerunBody(BaseModel):
    """What is to be different this time; what is left out is as it was."""

    model_config = ConfigDict(extra="forbid")

    agent_id: AgentId | None = Field(default=None, min_length=1, max_length=200)
    runner_config: dict[str, Any] | None = None
    allow_effects: bool | list[str] = False
    """Tools that are not read-only but may run nevertheless: their names, or true for all."""

    def to_options(self) -> RerunOptions:
        allowed = self.allow_effects
        effects: Names = tuple(allowed) if isinstance(allowed, list) else "*" if allowed else ()
        return RerunOptions(self.agent_id, self.runner_config, effects)

    def audit_view(self) -> dict[str, Any]:
        """Returns the changes for the audit; of a configuration only the names of its fields."""
        config = None if self.runner_config is None else sorted(self.runner_config)
        return {"agent_id": self.agent_id, "runner_config": config, "allow_effects": self.allow_effects}
