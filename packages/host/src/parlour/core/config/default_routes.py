"""Builds the routes of a new bot."""

from collections.abc import Iterable

from parlour.core.model.agent import Agent

from .routes import Route

DESCRIPTION = "made with the bot"


def first_routes(agents: Iterable[Agent]) -> list[Route]:
    """Returns a route by which the oldest enabled agent answers messages that mention the bot; none without agents."""
    for agent in agents:
        if agent.enabled and agent.accepts("message.received"):
            config = {"agent_id": agent.agent_id}
            filters = {"mentions_bot": True}
            return [Route("message.received", "agent", config, description=DESCRIPTION, filters=filters)]
    return []
