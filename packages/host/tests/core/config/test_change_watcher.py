"""Two Hosts on one database: each sees the configuration that the other has changed, even if a notice is lost."""

import asyncio

import pytest

from parlour.app.config_changes import VERSIONED_CONFIG
from parlour.core.config.agents import AgentRepository
from parlour.core.config.change_watcher import ChangeWatcher, NoChangeNotices
from parlour.core.config.live_settings import META_KEY, LiveSettings
from parlour.core.config.routes import Route, RouteRepository
from parlour.core.journal import Delete, GuardFailed, Insert, Unit, Update, where
from parlour.core.store.table_versions import VersionedJournal, read_versions
from parlour.core.store.tables import AGENTS, META, ROUTES
from parlour.core.system import SystemIds
from parlour.testing import MemoryJournal
from parlour.testing.memory_journal import MemoryDatabase

from ..support import LoopClock, make_agent

AUDIT_ENTRY = Insert(META, {"name": "audit", "value": ""}, conflict="ignore")


class Notices:
    """Notices that a test sends."""

    def __init__(self) -> None:
        self.sent = asyncio.Event()

    async def wait(self) -> None:
        await self.sent.wait()
        self.sent.clear()


class Host:
    """The cached configuration of one Host."""

    def __init__(self, database: MemoryDatabase) -> None:
        self.journal = VersionedJournal(MemoryJournal(database), VERSIONED_CONFIG)
        self.removed: list[str] = []
        self.agents = AgentRepository(self.journal, LoopClock(), self.removed.append)
        self.routes = RouteRepository(self.journal, SystemIds())
        self.settings = LiveSettings(self.journal, {"color": "red"})
        self.colors: list[str] = []
        self.settings.subscribe(lambda values: self.colors.append(values["color"]))
        self.reloads: list[str] = []
        self.notices = Notices()

    def watcher(self, notices: object = None, poll_seconds: float = 3600) -> ChangeWatcher:
        async def agents() -> None:
            self.reloads.append("agents")
            await self.agents.load()

        functions = {AGENTS.name: agents, ROUTES.name: self.routes.load, META_KEY: self.settings.reload}
        return ChangeWatcher(self.journal, notices or self.notices, functions, poll_seconds)  # type: ignore[arg-type]


@pytest.fixture
def hosts() -> tuple[Host, Host]:
    database = MemoryDatabase()
    return Host(database), Host(database)


async def test_added_changed_and_removed_items_are_seen_by_the_other_host(hosts: tuple[Host, Host]) -> None:
    one, other = hosts
    watcher = other.watcher()
    await watcher.start()
    first, second = make_agent("a1"), make_agent("a2")
    await one.agents.add(first)
    await one.agents.add(second)
    await watcher.reload_changed()
    assert other.agents.all() == [first, second]

    changed = make_agent("a1", description="new")
    await one.agents.replace(changed)
    await one.agents.remove("a2")
    await watcher.reload_changed()

    assert other.agents.all() == [changed]
    assert other.removed == ["a2"]


async def test_routes_and_settings_are_reloaded_and_subscribers_are_notified(hosts: tuple[Host, Host]) -> None:
    one, other = hosts
    watcher = other.watcher()
    await watcher.start()
    [route] = await one.routes.replace("b", [Route("*", "drop")])
    await one.settings.update({"color": "blue"}, lambda before, after: AUDIT_ENTRY)
    await watcher.reload_changed()
    assert other.routes.in_match_order("b") == [route]
    assert other.colors == ["red", "blue"]

    await one.routes.replace("b", [])
    await watcher.reload_changed()

    assert other.routes.in_match_order("b") == []
    assert other.colors == ["red", "blue"]


async def test_only_changed_tables_are_reloaded(hosts: tuple[Host, Host]) -> None:
    one, other = hosts
    watcher = other.watcher()
    await watcher.start()
    await one.routes.replace("b", [Route("*", "drop")])
    await watcher.reload_changed()
    assert other.reloads == []
    await one.agents.add(make_agent("a1"))
    for _ in range(3):
        await watcher.reload_changed()
    assert other.reloads == ["agents"]


async def test_a_notice_leads_to_a_reload(hosts: tuple[Host, Host]) -> None:
    one, other = hosts
    loaded = asyncio.Event()

    async def load() -> None:
        await other.agents.load()
        loaded.set()

    watcher = ChangeWatcher(other.journal, other.notices, {AGENTS.name: load}, 3600)
    await watcher.start()
    serving = asyncio.create_task(watcher.serve())
    await one.agents.add(make_agent("a1"))
    assert not loaded.is_set()
    other.notices.sent.set()
    async with asyncio.timeout(10):
        await loaded.wait()
    assert len(other.agents.all()) == 1
    serving.cancel()


async def test_a_lost_notice_only_delays_the_reload(hosts: tuple[Host, Host]) -> None:
    one, other = hosts
    loaded = asyncio.Event()

    async def load() -> None:
        await other.agents.load()
        loaded.set()

    watcher = ChangeWatcher(other.journal, NoChangeNotices(), {AGENTS.name: load}, 0.01)
    await watcher.start()
    await one.agents.add(make_agent("a1"))
    serving = asyncio.create_task(watcher.serve())
    async with asyncio.timeout(10):
        await loaded.wait()
    assert len(other.agents.all()) == 1
    serving.cancel()


async def test_the_version_changes_with_the_write_or_not_at_all(hosts: tuple[Host, Host]) -> None:
    journal = hosts[0].journal
    await hosts[0].agents.add(make_agent("a1"))
    assert await read_versions(journal) == {"agents": 1}

    never = Update(META, {"value": ""}, where(name="missing"))
    with pytest.raises(GuardFailed) as failed:
        await journal.commit(Unit("test.fail", (Delete(AGENTS, where(agent_id="a1")), never)))

    assert failed.value.statement == 1
    assert await read_versions(journal) == {"agents": 1}


async def test_other_writes_change_no_version_and_receipts_stay_the_same(hosts: tuple[Host, Host]) -> None:
    journal = hosts[0].journal
    [[row]] = await journal.commit(
        Unit("test.meta", (Insert(META, {"name": "else", "value": "x"}, returning=("value",)),))
    )
    assert row == {"value": "x"}
    assert await read_versions(journal) == {}
    receipt = await journal.commit(Unit("test.delete", (Delete(AGENTS, (), expect=None),)))
    assert len(receipt) == 1
    assert await read_versions(journal) == {"agents": 1}


async def test_an_own_change_during_a_reload_is_kept(hosts: tuple[Host, Host]) -> None:
    one, _ = hosts
    own = make_agent("a1")
    await asyncio.gather(one.agents.load(), one.agents.add(own))
    assert one.agents.all() == [own]
