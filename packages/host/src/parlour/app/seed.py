"""Adds the demo model, local-agent and a default agent to a new installation, so that it can answer immediately."""

import logging

from parlour.core.config.agents import AgentRepository
from parlour.core.config.default_model import DEFAULT_AGENT_META_KEY, DEMO_ID, model_selector
from parlour.core.config.models import ModelRepository
from parlour.core.journal import GuardFailed, Insert, Journal, Select, where
from parlour.core.model.agent import Agent
from parlour.core.model.ids import AgentId, ModelId, PluginId, ProviderId, RunnerId
from parlour.core.model.model_config import Model, Prices, Provider
from parlour.core.model.plugin_manager import PluginError, PluginManager
from parlour.core.model.ports import Ids
from parlour.core.store.tables import EVENTS, META

logger = logging.getLogger(__name__)

PLUGIN_ID = PluginId("parlour/local-agent")
RUNNER_ID = RunnerId(f"plugin:{PLUGIN_ID}/default")
DEMO_PROVIDER = ProviderId(DEMO_ID)
DEMO_MODEL = ModelId(DEMO_ID)
BUNDLED_SOURCE = "bundled:local-agent"


class Seeder:
    """Adds the initial data to an empty database."""

    def __init__(
        self,
        journal: Journal,
        models: ModelRepository,
        agents: AgentRepository,
        plugins: PluginManager,
        ids: Ids,
        bundled: bool,
        is_sole: bool = True,
    ) -> None:
        self._journal = journal
        self._models = models
        self._agents = agents
        self._plugins = plugins
        self._ids = ids
        self._bundled = bundled
        """True if the operator wants the bundled plugin."""
        self._is_sole = is_sole
        """False if other Hosts use the database, so that it may have data before this Host has plugins."""

    async def seed(self) -> None:
        """Adds the initial data once per database, and only if it has not been used yet.

        Steps that fail are tried again at the next start.
        """
        if await self._has_data():
            if not self._is_sole and self._bundled and any(each.runner_id == RUNNER_ID for each in self._agents.all()):
                await self._ensure_runner()
            return
        try:
            await self._add_demo_model()
        except GuardFailed:
            return  # another Host on this database is faster
        if self._bundled and await self._ensure_runner():
            await self._add_agent()

    async def _add_demo_model(self) -> None:
        if self._models.provider(DEMO_PROVIDER) is None:
            await self._models.put_provider(Provider(DEMO_PROVIDER, "Demo", "demo"))
        if self._models.model(DEMO_MODEL) is None:
            costs_nothing = Prices()
            await self._models.put_model(
                Model(
                    DEMO_MODEL, DEMO_PROVIDER, "demo", context_window=8192, max_output_tokens=1024, prices=costs_nothing
                )
            )

    async def _has_data(self) -> bool:
        rows = await self._journal.read(Select(META, where(name=DEFAULT_AGENT_META_KEY), limit=1))
        events = await self._journal.read(Select(EVENTS, (), ("seq",), limit=1))
        return bool(rows or events or self._agents.all())

    async def _ensure_runner(self) -> bool:
        try:
            installed = self._plugins.get(PLUGIN_ID)
            if (
                installed is None or not installed.installed_at
            ):  # the second case: its installation failed at an earlier start
                await self._plugins.install(BUNDLED_SOURCE, None, None, None)
        except PluginError as problem:
            logger.warning("no default agent was created: local-agent could not be installed: %s", problem.message)
            return False
        return True

    async def _add_agent(self) -> None:
        agent = Agent(
            AgentId(self._ids.new()),
            "Assistant",
            RUNNER_ID,
            description="Comes with Parlour. It takes the first model that you add.",
            runner_config={"model": model_selector(DEMO_MODEL)},
        )
        meta_row = Insert(META, {"name": DEFAULT_AGENT_META_KEY, "value": agent.agent_id})
        try:
            await self._agents.add(agent, meta_row)
        except GuardFailed:
            return  # another Host on this database created it first
