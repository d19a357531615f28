"""Tests the composition root: the core is complete and loads the stored configuration."""

from pathlib import Path
from typing import Any

from parlour.app.bootstrap import open_host
from parlour.app.core import build_core
from parlour.app.core_ports import CorePorts
from parlour.app.host import HostExtensions
from parlour.app.log_setup import build_redactor
from parlour.app.settings import HostSettings
from parlour.core.config.routes import Route
from parlour.core.journal import Select, Unit
from parlour.core.model.agent import Agent
from parlour.core.model.ports import ResultStream
from parlour.core.store import event_notes
from parlour.core.store.tables import TRAIL
from parlour.core.system import SystemClock, SystemIds
from parlour.testing import MemoryDatabase, MemoryJournal
from parlour_sdk.protocol.host_actions import HOST_ACTIONS as ACTIONS


class NoPlugins:
    def run_agent(self, plugin_id: str, request: dict[str, object]) -> ResultStream:
        raise AssertionError("nothing is to be run here")

    async def call(self, plugin_id: str, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        raise AssertionError("nothing is to be called here")

    async def stream(self, plugin_id: str, action: str, data: dict[str, Any]) -> ResultStream:
        raise AssertionError("nothing is to be called here")


def ports(database: MemoryDatabase) -> CorePorts:
    return CorePorts(MemoryJournal(database), NoPlugins(), SystemClock(), SystemIds())


async def test_a_core_has_a_handler_for_every_action() -> None:
    assert all(callable(build_core(ports(MemoryDatabase())).gate._handlers[name]) for name in ACTIONS)


async def test_a_second_core_loads_the_stored_agents_and_routes() -> None:
    database = MemoryDatabase()
    first = build_core(ports(database))
    await first.agents.add(Agent("a", "Ann", "plugin:acme/puppet/default"))
    await first.routes.replace("bot", [Route("*", "agent", {"agent_id": "a"})])
    second = build_core(ports(database))
    assert second.agents.all() == []
    await second.load()
    await second.recover()
    assert second.agents.all() == first.agents.all()
    assert second.routes.in_match_order("bot") == first.routes.in_match_order("bot")


async def test_two_hosts_in_one_process_know_only_their_own_secrets(tmp_path: Path) -> None:
    settings = [HostSettings(data=tmp_path / name) for name in ("one", "other")]
    text = "the platform refused violet-harbour-4711"
    async with (
        open_host(settings[0], HostExtensions(), build_redactor(settings[0])) as one,
        open_host(settings[1], HostExtensions(), build_redactor(settings[1])) as other,
    ):
        one.secrets.seal("violet-harbour-4711")
        for host in (one, other):
            await host.journal.commit(Unit("test", (event_notes.add_note(1, "test", {"error": text}, 0),)))
        stored = [(await host.journal.read(Select(TRAIL)))[0]["data"] for host in (one, other)]
    assert [text in each for each in stored] == [False, True]
