"""Assigns the first real model that is added to the default agent of a fresh install, unless an operator chose one."""

from dataclasses import replace
from typing import Any

from parlour.core.journal import Journal, Select, where
from parlour.core.model.agent import Agent
from parlour.core.model.ids import AgentId, ModelId
from parlour.core.model.model_config import Model
from parlour.core.store.tables import META

from .agents import AgentRepository

DEFAULT_AGENT_META_KEY = "default_agent"
"""Key of the table `meta` that stores the id of the default agent."""
DEMO_ID = "demo"
"""Id of the demo model and of its provider."""


def model_selector(model_id: ModelId) -> dict[str, Any]:
    """Returns the configuration value that selects one model without fallbacks."""
    return {"primary": model_id, "fallbacks": []}


class DefaultModelAssigner:
    """Finds out whether the default agent still needs a model."""

    def __init__(self, journal: Journal, agents: AgentRepository) -> None:
        self._journal = journal
        self._agents = agents

    async def assignment_for(self, model: Model) -> tuple[Agent, Agent] | None:
        """Returns the default agent as it is and with this model; None if it already has a model or does not exist."""
        rows = await self._journal.read(Select(META, where(name=DEFAULT_AGENT_META_KEY), limit=1))
        agent = self._agents.get(AgentId(str(rows[0]["value"]))) if rows else None
        if agent is None or model.type != "llm" or model.provider_id == DEMO_ID:
            return None
        if not _is_empty(agent.runner_config.get("model")):
            return None
        config = {**agent.runner_config, "model": model_selector(model.model_id)}
        return agent, replace(agent, runner_config=config)


def _is_empty(value: Any) -> bool:
    match value:
        case {"primary": primary}:
            return primary in (None, "", DEMO_ID)
        case None | "" | {}:
            return True
        case _:
            return False
