"""Agents are written to the database and read back unchanged."""

from parlour.core.config.agents import AgentRepository
from parlour.core.model.agent import Agent, StatePolicy
from parlour.core.model.delivery_policy import MIN_MESSAGE_SIZE
from parlour.testing import MemoryJournal

from ..support import LoopClock, make_agent

FULL = Agent(
    "a2",
    "Ann",
    "plugin:a/b/c",
    description="helps",
    runner_config={"x": [1, {"y": None}]},
    state_policy=StatePolicy(enabled=False, scopes=("actor",)),
    restart_policy="always",
    timeout_seconds=1.5,
    stale_after=0,
    event_types=("message.received", "group.*"),
    enabled=False,
)


async def reload(journal: MemoryJournal) -> AgentRepository:
    repository = AgentRepository(journal, LoopClock())
    await repository.load()
    return repository


async def test_agent_is_read_back_as_written() -> None:
    journal = MemoryJournal()
    await AgentRepository(journal, LoopClock()).add(FULL)
    assert (await reload(journal)).get("a2") == FULL


async def test_replaced_and_removed_agents_stay_so_after_a_restart() -> None:
    journal = MemoryJournal()
    repository = AgentRepository(journal, LoopClock())
    await repository.add(make_agent("a1"))
    await repository.add(FULL)
    await repository.replace(make_agent("a1", description="new"))
    await repository.remove("a2")
    for each in (repository, await reload(journal)):
        assert [(agent.agent_id, agent.description) for agent in each.all()] == [("a1", "new")]
        assert each.get("a2") is None


async def test_stored_message_size_below_the_minimum_is_raised() -> None:
    journal = MemoryJournal()
    repository = AgentRepository(journal, LoopClock())
    await repository.add(make_agent("a1", delivery_policy={"max_message_size": 1, "reply": "quote"}))
    await repository.add(make_agent("a2", delivery_policy={"max_message_size": 0}))
    read = [agent.delivery_policy for agent in (await reload(journal)).all()]
    assert read == [{"max_message_size": MIN_MESSAGE_SIZE, "reply": "quote"}, {"max_message_size": 0}]
