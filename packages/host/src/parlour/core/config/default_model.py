"""The agent that a fresh install has: it takes the first real model that is added, and keeps what a person chose."""

from dataclasses import replace
from typing import Any

from parlour.core.journal import Journal, Select, where
from parlour.core.model.agent import Agent
from parlour.core.model.model_config import Model
from parlour.core.store.tables import META

from .agents import AgentBook

DEFAULT_AGENT = "default_agent"
"""The name under which the database knows its id."""
DEMO = "demo"
"""The id of the demo model, and of its provider."""


def selecting(model_id: str) -> dict[str, Any]:
    return {"primary": model_id, "fallbacks": []}


class DefaultAgent:
    def __init__(self, journal: Journal, agents: AgentBook) -> None:
        self._journal = journal
        self._agents = agents

    async def waiting_for(self, model: Model) -> tuple[Agent, Agent] | None:
        """The default agent as it is and as it would be with this model; None when it has one, or is gone."""
        rows = await self._journal.read(Select(META, where(name=DEFAULT_AGENT), limit=1))
        agent = self._agents.get(str(rows[0]["value"])) if rows else None
        if agent is None or model.type != "llm" or model.provider_id == DEMO:
            return None
        if not _is_empty(agent.runner_config.get("model")):
            return None
        config = {**agent.runner_config, "model": selecting(model.model_id)}
        return agent, replace(agent, runner_config=config)


def _is_empty(selected: Any) -> bool:
    match selected:
        case {"primary": primary}:
            return primary in (None, "", DEMO)
        case None | "" | {}:
            return True
        case _:
            return False
