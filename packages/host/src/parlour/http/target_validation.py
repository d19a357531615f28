"""Validates the target of a schedule or webhook: an agent that accepts its events, or a bot whose routes decide."""

from parlour.core.config.agents import AgentRepository
from parlour.core.config.bots import BotRepository
from parlour.core.model.ids import AgentId, BotId

from .errors import invalid_field


class TargetValidator:
    def __init__(self, agents: AgentRepository, bots: BotRepository) -> None:
        self._agents = agents
        self._bots = bots

    def check(self, agent_id: AgentId, bot_id: BotId, event_type: str) -> None:
        """Raises a Problem that names the invalid field."""
        if bool(agent_id) == bool(bot_id):
            raise invalid_field("agent_id", "give either an agent_id, or a bot_id whose routes decide")
        if bot_id:
            if self._bots.get(bot_id) is None:
                raise invalid_field("bot_id", f"there is no bot '{bot_id}'; GET /api/v1/bots lists them")
            return
        agent = self._agents.get(agent_id)
        if agent is None:
            raise invalid_field("agent_id", f"there is no agent '{agent_id}'; GET /api/v1/agents lists them")
        if not agent.accepts(event_type):
            raise invalid_field(
                "agent_id", f"agent '{agent.name}' does not take {event_type}; add it to its event_types"
            )
