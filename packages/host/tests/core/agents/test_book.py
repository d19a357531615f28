"""Agents are written through, and read back as they were."""

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


async def reloaded(journal: MemoryJournal) -> AgentRepository:
    book = AgentRepository(journal, LoopClock())
    await book.load()
    return book


async def test_an_agent_is_read_back_as_it_was_written() -> None:
    journal = MemoryJournal()
    await AgentRepository(journal, LoopClock()).add(FULL)
    assert (await reloaded(journal)).get("a2") == FULL


async def test_a_replaced_or_removed_agent_stays_so_after_a_restart() -> None:
    journal = MemoryJournal()
    book = AgentRepository(journal, LoopClock())
    await book.add(make_agent("a1"))
    await book.add(FULL)
    await book.replace(make_agent("a1", description="new"))
    await book.remove("a2")
    for each in (book, await reloaded(journal)):
        assert [(agent.agent_id, agent.description) for agent in each.all()] == [("a1", "new")]
        assert each.get("a2") is None


async def test_a_message_size_from_before_there_was_a_least_is_read_as_the_least() -> None:
    journal = MemoryJournal()
    book = AgentRepository(journal, LoopClock())
    await book.add(make_agent("a1", delivery_policy={"max_message_size": 1, "reply": "quote"}))
    await book.add(make_agent("a2", delivery_policy={"max_message_size": 0}))
    read = [agent.delivery_policy for agent in (await reloaded(journal)).all()]
    assert read == [{"max_message_size": MIN_MESSAGE_SIZE, "reply": "quote"}, {"max_message_size": 0}]
