"""Lists what the Host has: bots and their capabilities, plugins, commands, tools."""

from parlour_sdk.protocol.listing import (
    BotCapabilities,
    BotList,
    BotSummary,
    CommandList,
    CommandSummary,
    GetBotCapabilities,
    ListBots,
    ListCommands,
    ListPlugins,
    ListTools,
    PluginList,
    PluginSummary,
    ToolList,
)
from parlour_sdk.protocol.tools import ToolDetail

from .calls import Namespace


class ListingAPI(Namespace):
    async def bots(self) -> list[BotSummary]:
        return (await self._calls.call("list_bots", ListBots, BotList)).bots

    async def plugins(self) -> list[PluginSummary]:
        return (await self._calls.call("list_plugins", ListPlugins, PluginList)).plugins

    async def commands(self) -> list[CommandSummary]:
        return (await self._calls.call("list_commands", ListCommands, CommandList)).commands

    async def tools(self) -> list[ToolDetail]:
        return (await self._calls.call("list_tools", ListTools, ToolList)).tools

    async def capabilities(self, bot_id: str) -> BotCapabilities:
        return await self._calls.call("get_bot_capabilities", GetBotCapabilities, BotCapabilities, bot_id=bot_id)

    async def supports(self, bot_id: str, api: str) -> bool:
        """Returns whether the bot has this API (`edit_message`), event (`message.edited`) or platform action."""
        capabilities = await self.capabilities(bot_id)
        return api in (*capabilities.apis, *capabilities.events, *capabilities.actions)
