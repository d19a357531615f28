"""Tests a real kill -9 before and after the units that record what plugins answered about a message."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from parlour.core.config.agents import AgentRepository
from parlour.core.journal import Select, where
from parlour.core.model.ids import AgentId
from parlour.core.store.tables import TRAIL
from parlour.core.system import SystemClock
from parlour.stores.sqlite import SqliteJournal
from tests.crash.conftest import Prepared, RestartableHost, free_port, parlour
from tests.crash.platform import People
from tests.crash.test_kill import Sqlite, ask

ASKED_PLUGIN = Path(__file__).parents[1] / "fixtures" / "plugins" / "asked.py"
FILTER = {"use": "plugin", "config": {"plugin_id": "test/asked", "on_error": "block"}, "on": "flag"}
SECONDS = 60


@pytest.fixture(scope="module")
def asked(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a data directory with a plugin on the path of messages, which is also a filter of the agent."""
    data = tmp_path_factory.mktemp("asked") / "data"
    shutil.copytree(prepared.data, data)
    parlour({}, "plugin", "install", str(ASKED_PLUGIN), "--data", str(data))
    asyncio.run(_add_filter(data / "parlour.db", prepared.echo))
    return data


async def _add_filter(database: Path, agent_id: str) -> None:
    journal = SqliteJournal(database)
    await journal.open()
    agents = AgentRepository(journal, SystemClock())
    await agents.load()
    agent = agents.get(AgentId(agent_id))
    assert agent is not None
    await agents.replace(replace(agent, message_policy={"filters": {"input": [FILTER]}}))
    await journal.close()


@pytest.fixture
async def host(prepared: Prepared, asked: Path, people: People, tmp_path: Path) -> AsyncIterator[RestartableHost]:
    data = tmp_path / "data"
    shutil.copytree(asked, data)
    host = RestartableHost(data, free_port(), people.port, prepared.echo, {"PARLOUR__PLUGINS__BUNDLED": "false"})
    yield host
    for process in host.processes:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    "point",
    [
        "hooks.answer:after",
        *(
            pytest.param(each, marks=pytest.mark.long)
            for each in ("hooks.answer:before", "filters.answer:before", "filters.answer:after")
        ),
    ],
)
async def test_message_is_answered_once_when_the_host_is_killed_at(
    point: str, host: RestartableHost, prepared: Prepared
) -> None:
    process = host.start(point)
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {prepared.key}"}) as session:
        asking = asyncio.create_task(ask(session, host, prepared.echo, "one", "hello"))
        assert await host.died(process, SECONDS)
        host.start()
        await host.ready()
        async with asyncio.timeout(SECONDS):
            await asking
    host.stop()
    store = Sqlite(host.data / "parlour.db")
    [hooked] = [json.loads(row["data"]) for row in store.read(Select(TRAIL, where(step="hooks.arriving")))]
    [checked] = [json.loads(row["data"]) for row in store.read(Select(TRAIL, where(step="policy.checks")))]
    assert [answer["code"] for answer in hooked["hooks"]] == ["changed"]
    assert [(each["code"], each["detail"]) for each in checked["checks"]] == [("found", "HELLO")]
    assert store.pending_rows() == 0
