"""Repository of agents, cached in memory and written through: they are few and read for every event."""

from parlour.core.journal import Journal
from parlour.core.model.agent import Agent
from parlour.core.model.ids import AgentId
from parlour.core.model.ports import Clock
from parlour.core.store.tables import AGENTS, DEFAULT_AGENTS, MEMORIES, MEMORY_CONSENTS

from .cached_repository import CachedRepository, RemovalHook, RowMapping, UnitNames

AGENT_ROWS = RowMapping[AgentId, Agent](
    AGENTS,
    UnitNames(add="agent.add", replace="agent.replace", remove="agent.remove"),
    item_id=lambda agent: agent.agent_id,
    encode=lambda agent: {"definition": agent.encode()},
    decode=lambda row: Agent.decode(row["definition"]),
    owned_tables=(DEFAULT_AGENTS, MEMORIES, MEMORY_CONSENTS),
)


class AgentRepository(CachedRepository[AgentId, Agent]):
    """All agents. An agent is removed with its memory, and with every setting that makes it a default agent."""

    def __init__(self, journal: Journal, clock: Clock, *on_removed: RemovalHook[AgentId]) -> None:
        super().__init__(journal, clock, AGENT_ROWS, *on_removed)
