"""Repository of agents. They are few and read for every event, so they are cached in memory and written through."""

from collections.abc import Callable

from parlour.core.journal import ANY, Delete, Insert, Journal, Select, Statement, Unit, Update, where
from parlour.core.model.agent import Agent
from parlour.core.model.ports import Clock
from parlour.core.store.tables import AGENTS, DEFAULT_AGENTS


class AgentRepository:
    """All agents. A caller that changes one passes further statements for the same unit, such as the audit entry.

    `gone` is called with the id of an agent after it was removed.
    """

    def __init__(self, journal: Journal, clock: Clock, gone: Callable[[str], None] = lambda agent_id: None) -> None:
        self._journal = journal
        self._clock = clock
        self._on_removed = gone
        self._agents: dict[str, Agent] = {}

    async def load(self) -> None:
        rows = await self._journal.read(Select(AGENTS, order=("agent_id",)))
        self._agents = {row["agent_id"]: Agent.decode(row["definition"]) for row in rows}

    def get(self, agent_id: str) -> Agent | None:
        return self._agents.get(agent_id)

    def all(self) -> list[Agent]:
        """Returns all agents in the order of their creation."""
        return [self._agents[agent_id] for agent_id in sorted(self._agents)]

    async def add(self, agent: Agent, *also: Statement) -> None:
        now = self._clock.now()
        row: dict[str, str | int] = {"agent_id": agent.agent_id, "definition": agent.encode()}
        statement = Insert(AGENTS, {**row, "created_at": now, "updated_at": now})
        await self._journal.commit(Unit("agent.add", (statement, *also)))
        self._agents[agent.agent_id] = agent

    async def replace(self, agent: Agent, *also: Statement) -> None:
        values: dict[str, str | int] = {"definition": agent.encode(), "updated_at": self._clock.now()}
        statement = Update(AGENTS, {**values}, where(agent_id=agent.agent_id))
        await self._journal.commit(Unit("agent.replace", (statement, *also)))
        self._agents[agent.agent_id] = agent

    async def remove(self, agent_id: str, *also: Statement) -> None:
        """Removes an agent and every setting that makes it a default agent."""
        own = where(agent_id=agent_id)
        removals = (Delete(AGENTS, own), Delete(DEFAULT_AGENTS, own, expect=ANY))
        await self._journal.commit(Unit("agent.remove", (*removals, *also)))
        self._agents.pop(agent_id, None)
        self._on_removed(agent_id)
