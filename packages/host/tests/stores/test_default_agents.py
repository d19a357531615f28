"""The database allows one default agent per place, also if many claim it at once with separate journals."""

import asyncio

from parlour.core.config.agents import AgentRepository
from parlour.core.config.default_agents import DefaultAgent, DefaultAgentRepository, ScopeTaken, TargetMissing
from parlour.core.journal import Journal, Select
from parlour.core.model.agent import Agent
from parlour.core.model.default_scope import DefaultScope
from parlour.core.store.tables import DEFAULT_AGENTS
from parlour.core.system import SystemClock

CHANNEL = DefaultScope("channel", platform="qq", chat="group:5")


async def check(journals: list[Journal]) -> None:
    books = [DefaultAgentRepository(journal) for journal in journals]
    agents = AgentRepository(journals[0], SystemClock(), books[0].evict_agent)
    for number in range(8):
        await agents.add(Agent(f"agent-{number}", f"Agent {number}", "runner"))

    async def claim(number: int) -> str:
        try:
            await books[number % 2].add(DefaultAgent(f"default-{number}", CHANNEL, f"agent-{number}"))
        except ScopeTaken:
            return "taken"
        except TargetMissing as gone:
            return gone.field
        return "got it"

    claimed = await asyncio.gather(*map(claim, range(8)))
    assert sorted(claimed) == ["got it"] + ["taken"] * 7
    winner = claimed.index("got it")
    await asyncio.gather(agents.remove(f"agent-{winner}"), *map(claim, (winner, winner)))
    assert await claim(winner) == "agent_id", "who is gone gets nothing"
    assert await journals[1].read(Select(DEFAULT_AGENTS)) == [], "and leaves nothing behind"


async def test_one_of_many_concurrent_claims_succeeds_on_sqlite(on_sqlite: list[Journal]) -> None:
    await check(on_sqlite)


async def test_one_of_many_concurrent_claims_succeeds_on_postgresql(on_postgres: list[Journal]) -> None:
    await check(on_postgres)
