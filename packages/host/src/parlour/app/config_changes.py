"""Lists the cached configuration, and how each part of it is reloaded after another Host has changed it."""

from collections.abc import Mapping

from parlour.core.config.change_watcher import Reload
from parlour.core.config.live_settings import META_KEY, LiveSettings
from parlour.core.config.mcp_servers import McpServerRepository
from parlour.core.config.models import ModelRepository
from parlour.core.config.skills import SkillRepository
from parlour.core.store.table_versions import VersionedTables
from parlour.core.store.tables import (
    AGENTS,
    BOTS,
    BUDGETS,
    DEFAULT_AGENTS,
    MCP_SERVERS,
    MODEL_PROVIDERS,
    MODELS,
    PIPELINES,
    ROUTES,
    SCHEDULES,
    SKILLS,
    WEBHOOKS,
    WORD_LISTS,
)

from .core import Core

VERSIONED_CONFIG = VersionedTables(
    (
        *(AGENTS, BOTS, BUDGETS, DEFAULT_AGENTS, MCP_SERVERS, MODEL_PROVIDERS, MODELS, ROUTES, SCHEDULES),
        *(PIPELINES, SKILLS, WEBHOOKS, WORD_LISTS),
    ),
    (META_KEY,),
)
"""Tables of which every Host has a copy in memory."""


def config_reloads(
    core: Core,
    models: ModelRepository,
    servers: McpServerRepository,
    skills: SkillRepository,
    settings: LiveSettings,
) -> Mapping[str, Reload]:
    """Returns the function that reloads each part, by the name of its version."""
    return {
        AGENTS.name: core.agents.load,
        BOTS.name: core.bots.load,
        BUDGETS.name: core.budgets.load,
        DEFAULT_AGENTS.name: core.default_agents.load,
        MCP_SERVERS.name: servers.load,
        MODEL_PROVIDERS.name: models.load,
        MODELS.name: models.load,
        PIPELINES.name: core.pipelines.load,
        ROUTES.name: core.routes.load,
        SCHEDULES.name: core.schedules.load,
        SKILLS.name: skills.load,
        WEBHOOKS.name: core.inbound_webhooks.load,
        WORD_LISTS.name: core.word_lists.load,
        META_KEY: settings.reload,
    }
