"""The contract of all repositories that are cached in memory: same reads after a restart, one unit per change."""

from dataclasses import replace
from typing import Any

import pytest

from parlour.core.config.agents import AGENT_ROWS
from parlour.core.config.bots import BOT_ROWS, Bot, BotRepository
from parlour.core.config.budgets import BUDGET_ROWS
from parlour.core.config.cached_repository import CachedRepository, RowMapping
from parlour.core.config.mcp_servers import MCP_SERVER_ROWS
from parlour.core.config.models import MODEL_ROWS, PROVIDER_ROWS
from parlour.core.config.pipelines import PIPELINE_ROWS
from parlour.core.config.schedules import SCHEDULE_ROWS, ScheduleState
from parlour.core.config.webhooks import WEBHOOK_ROWS
from parlour.core.config.word_lists import WORD_LIST_ROWS
from parlour.core.journal import Delete, GuardFailed, Insert, PreparedCallback, Receipt, Statement, Unit, Update, where
from parlour.core.model.budget import Budget
from parlour.core.model.inbound_webhook import Webhook
from parlour.core.model.mcp_server import McpServer
from parlour.core.model.model_config import Model, Prices, Provider
from parlour.core.model.pipeline import Pipeline
from parlour.core.model.schedule import Schedule
from parlour.core.model.word_list import WordList
from parlour.core.store.tables import META
from parlour.testing import MemoryJournal

from ..support import LoopClock, make_agent

DAILY = Schedule("s1", "daily", cron="0 9 * * *", data={"x": [1]})
SERVER = McpServer("s1", "files", "stdio", command="mcp", arguments=("--root", "/srv"))
KINDS: dict[str, tuple[RowMapping[Any, Any], Any, Any, Any]] = {
    "agent": (AGENT_ROWS, make_agent("a1"), make_agent("a1", description="new"), make_agent("a2")),
    "bot": (
        BOT_ROWS,
        Bot("b1", "One", "telegram", {"poll": True}, {"token": "sealed"}),
        Bot("b1", "Other", "telegram", enabled=False),
        Bot("b2", "Two", "matrix"),
    ),
    "budget": (
        BUDGET_ROWS,
        Budget("b1", "Small", "sender", tokens=5),
        Budget("b1", "Large", "sender"),
        Budget("b2", "All", "workspace"),
    ),
    "mcp_server": (MCP_SERVER_ROWS, SERVER, replace(SERVER, name="docs"), McpServer("s2", "web", "http", "https://x")),
    "model": (
        MODEL_ROWS,
        Model("m1", "p", "gpt", "llm", 100, 10, ("vision",), Prices(1, 2, 0.5), {"temperature": 0}),
        Model("m1", "q", "other"),
        Model("m2", "p", "third"),
    ),
    "provider": (
        PROVIDER_ROWS,
        Provider("p1", "Mine", "openai", "https://example.org", ("sealed",)),
        Provider("p1", "Renamed", "openai"),
        Provider("p2", "Other", "anthropic"),
    ),
    "schedule": (
        SCHEDULE_ROWS,
        ScheduleState(DAILY, 1000, 0),
        ScheduleState(replace(DAILY, text="go"), 2000, 1000),
        ScheduleState(Schedule("s2", "often", interval_seconds=60), 60_000, 0),
    ),
    "pipeline": (
        PIPELINE_ROWS,
        Pipeline("p1", "Support", "agent", skills=("a",)),
        Pipeline("p1", "Help", "agent", message_policy={"limits": []}),
        Pipeline("p2", "Other", "agent", conversation_ttl=60.0, enabled=False),
    ),
    "word_list": (
        WORD_LIST_ROWS,
        WordList("l1", "Rude", ("bad",), ("b+",)),
        WordList("l1", "Rude", ("worse",)),
        WordList("l2", "Other"),
    ),
    "webhook": (
        WEBHOOK_ROWS,
        Webhook("w1", "builds", "sealed"),
        Webhook("w1", "tests", "sealed", "github", enabled=False),
        Webhook("w2", "alarms", "sealed", agent_id="a"),
    ),
}
UNITS = {
    "agent": ("agent.add", "agent.replace", "agent.remove"),
    "bot": ("bot.add", "bot.replace", "bot.remove"),
    "budget": ("budget.add", "budget.replace", "budget.remove"),
    "mcp_server": ("mcp_server.add", "mcp_server.replace", "mcp_server.remove"),
    "model": ("models.put", "models.put", "model.remove"),
    "provider": ("model_providers.put", "model_providers.put", "provider.remove"),
    "schedule": ("schedule.create", "schedule.replace", "schedule.delete"),
    "pipeline": ("pipeline.add", "pipeline.replace", "pipeline.remove"),
    "word_list": ("word_list.add", "word_list.replace", "word_list.remove"),
    "webhook": ("webhook.add", "webhook.replace", "webhook.remove"),
}
ALSO = Insert(META, {"name": "also", "value": "x"}, conflict="ignore")
NEVER_HOLDS = Update(META, {"value": "x"}, where(name="missing"))
every_kind = pytest.mark.parametrize("kind", KINDS)


class RecordingJournal(MemoryJournal):
    """A journal that notes the units it commits."""

    def __init__(self) -> None:
        super().__init__()
        self.units: list[Unit] = []

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        self.units.append(unit)
        return await super().commit(unit, on_prepared)


class Example:
    """A repository of one kind with three items: the first, another version of it, and the second."""

    def __init__(self, kind: str) -> None:
        self.mapping, self.first, self.changed, self.second = KINDS[kind]
        self.journal = RecordingJournal()
        self.removed: list[str] = []
        self.repository = CachedRepository(self.journal, LoopClock(), self.mapping, self.removed.append)

    @property
    def first_id(self) -> str:
        return self.mapping.item_id(self.first)

    async def restarted(self) -> CachedRepository[Any, Any]:
        repository = CachedRepository(self.journal, LoopClock(), self.mapping)
        await repository.load()
        return repository

    async def expect(self, *items: Any) -> None:
        """Checks what is read, both from the cache and after a restart."""
        for repository in (self.repository, await self.restarted()):
            assert repository.all() == list(items)
            assert [repository.get(self.mapping.item_id(item)) for item in items] == list(items)


@every_kind
async def test_items_are_read_in_the_order_of_their_ids_also_after_a_restart(kind: str) -> None:
    example = Example(kind)
    await example.repository.add(example.second)
    await example.repository.add(example.first)
    await example.expect(example.first, example.second)


@every_kind
async def test_replaced_item_is_read_back_as_written(kind: str) -> None:
    example = Example(kind)
    await example.repository.add(example.first)
    await example.repository.replace(example.changed)
    await example.expect(example.changed)


@every_kind
async def test_put_adds_an_unknown_item_and_replaces_a_known_one(kind: str) -> None:
    example = Example(kind)
    await example.repository.put(example.first)
    await example.repository.put(example.changed)
    await example.repository.put(example.second)
    await example.expect(example.changed, example.second)


@every_kind
async def test_removed_item_is_gone_and_its_removal_is_announced(kind: str) -> None:
    example = Example(kind)
    await example.repository.add(example.first)
    await example.repository.add(example.second)
    await example.repository.remove(example.first_id)
    await example.expect(example.second)
    assert example.removed == [example.first_id]


@every_kind
async def test_each_change_is_one_unit_that_ends_with_the_statements_of_the_caller(kind: str) -> None:
    example = Example(kind)
    await example.repository.add(example.first, ALSO)
    await example.repository.replace(example.changed, ALSO)
    await example.repository.remove(example.first_id, ALSO)
    assert tuple(unit.name for unit in example.journal.units) == UNITS[kind]
    assert all(unit.statements[-1] is ALSO for unit in example.journal.units)
    insert, update, delete = (unit.statements[0] for unit in example.journal.units)
    assert (type(insert), type(update), type(delete)) == (Insert, Update, Delete)


@every_kind
async def test_uncommitted_change_leaves_the_cache_unchanged(kind: str) -> None:
    example = Example(kind)
    await example.repository.add(example.first)
    for change in (
        example.repository.add(example.second, NEVER_HOLDS),
        example.repository.replace(example.changed, NEVER_HOLDS),
        example.repository.remove(example.first_id, NEVER_HOLDS),
    ):
        with pytest.raises(GuardFailed):
            await change
    await example.expect(example.first)
    assert example.removed == []


@every_kind
async def test_missing_item_can_be_neither_replaced_nor_removed(kind: str) -> None:
    example = Example(kind)
    for change in (example.repository.replace(example.first), example.repository.remove(example.first_id)):
        with pytest.raises(GuardFailed):
            await change
    await example.expect()


DIRECTORY_TABLES = ("directory", "directory_members", "directory_messages")


@pytest.mark.parametrize(
    ("kind", "tables"),
    [
        ("agent", ["agents", "default_agents", "memories", "memory_consents"]),
        ("bot", ["bots", "routes", "default_agents", "bot_cursors", "names", *DIRECTORY_TABLES, "reply_allowances"]),
        ("budget", ["budgets", "budget_uses"]),
    ],
)
async def test_rows_that_an_item_owns_are_deleted_in_the_same_unit(kind: str, tables: list[str]) -> None:
    example = Example(kind)
    await example.repository.add(example.first)
    await example.repository.remove(example.first_id)
    statements: tuple[Statement, ...] = example.journal.units[-1].statements
    assert [statement.table.name for statement in statements] == tables


async def test_removal_hooks_are_called_in_order() -> None:
    seen: list[str] = []
    first, second = (lambda bot_id: seen.append(f"first {bot_id}")), (lambda bot_id: seen.append(f"second {bot_id}"))
    bots = BotRepository(MemoryJournal(), LoopClock(), first, second)
    await bots.add(Bot("b1", "One", "telegram"))
    await bots.remove("b1")
    assert seen == ["first b1", "second b1"]
