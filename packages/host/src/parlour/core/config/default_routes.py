"""What a new bot does before anybody has said what it should do."""

from collections.abc import Iterable

from parlour.core.model.agent import Agent

from .routes import Route

DESCRIPTION = "made with the bot"


def first_routes(agents: Iterable[Agent]) -> list[Route]:
    """The oldest agent that is enabled answers whoever addresses the bot; where there is none, nobody does."""
    for agent in agents:
        if agent.enabled and agent.takes("message.received"):
            config = {"agent_id": agent.agent_id}
            filters = {"mentions_bot": True}
            return [Route("message.received", "agent", config, description=DESCRIPTION, filters=filters)]
    return []
