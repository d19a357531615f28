"""Serves facts about the fake Host: its version, plugins, commands and conversations."""

from collections.abc import Callable
from typing import Any

from parlour_sdk.protocol import listing
from parlour_sdk.protocol.base import PROTOCOL_VERSION
from parlour_sdk.protocol.gateway import GatewayAccess, GatewayOpen
from parlour_sdk.protocol.host import HostVersion, HostVersionGet, PluginConfig, PluginConfigGet

from ..gate import Handler
from ..sessions import Caller

VERSION = "0.0.0-fake"


class HostCatalog:
    def __init__(self, new_conversation: Callable[[], str], plugin_config: dict[str, Any]) -> None:
        self._new_conversation = new_conversation
        self._plugin_config = plugin_config

    def handlers(self) -> dict[str, Handler]:
        return {
            "get_host_version": self._version,
            "gateway_open": self._gateway,
            "get_plugin_config": self._config,
            "list_plugins": self._plugins,
            "list_commands": self._commands,
            "start_conversation": self._start,
        }

    async def _version(self, caller: Caller, request: HostVersionGet) -> HostVersion:
        return HostVersion(version=VERSION, protocol=PROTOCOL_VERSION)

    async def _gateway(self, caller: Caller, request: GatewayOpen) -> GatewayAccess:
        """Names a gateway that nobody serves; give `answers` to name another."""
        return GatewayAccess(url="http://127.0.0.1:9/gateway/mcp", token=request.token or "pgw_fake")

    async def _config(self, caller: Caller, request: PluginConfigGet) -> PluginConfig:
        return PluginConfig(config=self._plugin_config)

    async def _plugins(self, caller: Caller, request: listing.ListPlugins) -> listing.PluginList:
        return listing.PluginList()

    async def _commands(self, caller: Caller, request: listing.ListCommands) -> listing.CommandList:
        return listing.CommandList()

    async def _start(self, caller: Caller, request: listing.StartConversation) -> listing.ConversationStarted:
        return listing.ConversationStarted(conversation_id=self._new_conversation())
