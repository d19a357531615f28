"""The main class: it opens the pool of harnesses with the plugin, and ends all of them with it."""

from acp_agent import pool

from parlour_sdk.api import PluginAPI
from parlour_sdk.components import Plugin


class AcpPlugin(Plugin):
    async def initialize(self, api: PluginAPI) -> None:
        pool.open_pool(api)

    async def close(self) -> None:
        await pool.current_pool().close()
