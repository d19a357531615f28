"""The composition root: what is built is whole, and it loads what was configured before."""

from typing import Any

from parlour.app.core import build_core
from parlour.app.core_ports import CorePorts
from parlour.core.config.routes import Route
from parlour.core.model.agent import Agent
from parlour.core.model.ports import ResultStream
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


async def test_a_core_has_a_handler_for_every_action_of_the_table() -> None:
    assert all(callable(build_core(ports(MemoryDatabase())).gate._handlers[name]) for name in ACTIONS)


async def test_a_second_core_on_the_same_database_knows_agents_and_routes() -> None:
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
