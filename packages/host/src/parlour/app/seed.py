"""Adds the demo model, local-agent and a default agent to a new installation, so that it can answer immediately."""

import logging
from pathlib import Path

from parlour.core.config.agents import AgentBook
from parlour.core.config.default_model import DEFAULT_AGENT, DEMO, selecting
from parlour.core.config.models import ModelBook
from parlour.core.journal import GuardFailed, Insert, Journal, Select, where
from parlour.core.model.agent import Agent
from parlour.core.model.model_config import Model, Prices, Provider
from parlour.core.model.plugin_manager import PluginKeeper, PluginProblem
from parlour.core.model.ports import Ids
from parlour.core.store.tables import EVENTS, META

logger = logging.getLogger(__name__)

PLUGIN_ID = "parlour/local-agent"
RUNNER_ID = f"plugin:{PLUGIN_ID}/default"
PLACES = (Path(__file__).parents[1] / "bundled" / "local-agent", Path(__file__).parents[5] / "plugins" / "local-agent")
"""Folders of the bundled plugin: in an installed package, and in a clone of the repository."""


class FreshInstall:
    """Adds the initial data to an empty database."""

    def __init__(
        self, journal: Journal, models: ModelBook, agents: AgentBook, plugins: PluginKeeper, ids: Ids, bundled: bool
    ) -> None:
        self._journal = journal
        self._models = models
        self._agents = agents
        self._plugins = plugins
        self._ids = ids
        self._bundled = bundled
        """True if the operator wants the bundled plugin."""

    async def furnish(self) -> None:
        """Adds the initial data once per database, and only if it has not been used yet.

        Steps that fail are tried again at the next start.
        """
        if await self._is_used():
            return
        if self._models.provider(DEMO) is None:
            await self._models.put_provider(Provider(DEMO, "Demo", "demo"))
        if self._models.model(DEMO) is None:
            costs_nothing = Prices()
            await self._models.put_model(
                Model(DEMO, DEMO, "demo", context_window=8192, max_output_tokens=1024, prices=costs_nothing)
            )
        if self._bundled and await self._has_runner():
            await self._add_agent()

    async def _is_used(self) -> bool:
        known = await self._journal.read(Select(META, where(name=DEFAULT_AGENT), limit=1))
        events = await self._journal.read(Select(EVENTS, (), ("seq",), limit=1))
        return bool(known or events or self._agents.all())

    async def _has_runner(self) -> bool:
        try:
            found = self._plugins.get(PLUGIN_ID)
            if found is None or not found.installed_at:  # the second case: its installation failed at an earlier start
                source = next(place for place in PLACES if place.is_dir())
                await self._plugins.install(str(source), "local-agent", None, None)
        except StopIteration:
            return False
        except PluginProblem as problem:
            logger.warning("no default agent was created: local-agent could not be installed: %s", problem.message)
            return False
        return True

    async def _add_agent(self) -> None:
        agent = Agent(
            self._ids.new(),
            "Assistant",
            RUNNER_ID,
            description="Comes with Parlour. It takes the first model that you add.",
            runner_config={"model": selecting(DEMO)},
        )
        named = Insert(META, {"name": DEFAULT_AGENT, "value": agent.agent_id})
        try:
            await self._agents.add(agent, named)
        except GuardFailed:
            return  # another Host on this database created it first
