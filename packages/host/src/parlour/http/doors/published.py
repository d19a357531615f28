"""Finds the agents that are published through a door, by id or by a name that is derived from theirs."""

import re
import unicodedata
from collections import Counter

from parlour.core.config.agents import AgentRepository
from parlour.core.model.agent import Agent
from parlour.core.model.doors import Door
from parlour.core.model.ids import AgentId

MODEL_PREFIX = "agent:"
MAX_SLUG_CHARACTERS = 60
_NOT_IN_SLUG = re.compile(r"[^a-z0-9]+")


def slug(name: str) -> str:
    """Returns a name in small ASCII letters, digits and hyphens; empty if nothing of the name remains."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return _NOT_IN_SLUG.sub("-", plain).strip("-")[:MAX_SLUG_CHARACTERS].rstrip("-")


class PublishedAgents:
    """The enabled agents of which each door is open."""

    def __init__(self, agents: AgentRepository) -> None:
        self._agents = agents

    def all(self, door: Door) -> list[Agent]:
        return [agent for agent in self._agents.all() if agent.enabled and door in agent.published]

    def get(self, door: Door, agent_id: str) -> Agent | None:
        """Returns the agent of an id, or None if it does not exist or is not published through this door."""
        agent = self._agents.get(AgentId(agent_id))
        return agent if agent is not None and agent.enabled and door in agent.published else None

    def named(self, door: Door) -> list[tuple[str, Agent]]:
        """Returns each agent with its name for clients: its slug, or `agent:<agent_id>` if the slug is not unique."""
        agents = self.all(door)
        counts = Counter(slug(agent.name) for agent in agents)
        return [(_client_name(agent, counts), agent) for agent in agents]

    def find(self, door: Door, name: str) -> Agent | None:
        """Returns the agent of a slug, of `agent:<slug>` or of `agent:<agent_id>`."""
        wanted = name.removeprefix(MODEL_PREFIX)
        by_name = dict(self.named(door))
        return by_name.get(wanted) or self.get(door, wanted)


def _client_name(agent: Agent, counts: Counter[str]) -> str:
    name = slug(agent.name)
    return name if name and counts[name] == 1 else f"{MODEL_PREFIX}{agent.agent_id}"
