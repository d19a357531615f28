"""Returns facts about the Host itself, and the plugin's own configuration."""

from typing import Any

from parlour_sdk.protocol.host import HostVersion, HostVersionGet, PluginConfig, PluginConfigGet

from .calls import Namespace


class HostAPI(Namespace):
    async def version(self) -> HostVersion:
        return await self._calls.call("get_host_version", HostVersionGet, HostVersion)

    async def plugin_config(self) -> dict[str, Any]:
        """Returns the values of the plugin's own form. A change restarts the plugin, so they can be kept."""
        return (await self._calls.call("get_plugin_config", PluginConfigGet, PluginConfig)).config
