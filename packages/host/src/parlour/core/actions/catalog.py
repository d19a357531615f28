"""Actions that list the installed plugins, and the chat commands of the Host and of all plugins."""

from collections.abc import Callable, Sequence

from parlour.core.model.plugin_manager import PluginInfo
from parlour.core.plugin_hooks.components import ComponentRegistry, RegisteredComponent
from parlour.core.runs.caller import ActionCaller
from parlour_sdk.protocol.base import I18nText
from parlour_sdk.protocol.component_specs import CommandSpec
from parlour_sdk.protocol.listing import (
    CommandList,
    CommandSummary,
    ListCommands,
    ListPlugins,
    PluginList,
    PluginSummary,
)

from .handlers import Handler

InstalledPlugins = Callable[[], Sequence[PluginInfo]]
"""Returns the installed plugins."""
BUILTIN_COMMANDS: dict[str, I18nText] = {
    "help": {"en_US": "Lists the commands", "zh_Hans": "列出命令"},
    "new": {"en_US": "Begins a new conversation in this chat", "zh_Hans": "在此聊天中开始新的对话"},
    "stop": {"en_US": "Stops the answer that is being given", "zh_Hans": "停止正在进行的回答"},
    "agent": {"en_US": "Says which agent answers here", "zh_Hans": "显示在此回答的智能体"},
    "model": {"en_US": "Says which models the agent uses", "zh_Hans": "显示智能体使用的模型"},
    "usage": {"en_US": "Says how much is used and what is left", "zh_Hans": "显示用量与剩余额度"},
    "why": {"en_US": "Says what became of your last message", "zh_Hans": "说明上一条消息的处理结果"},
}
"""Chat commands of the Host itself, with their descriptions."""


class CatalogActions:
    def __init__(self, plugins: InstalledPlugins, components: ComponentRegistry) -> None:
        self._plugins = plugins
        self._components = components

    def handlers(self) -> dict[str, Handler]:
        return {
            "list_plugins": self.plugins,
            "list_commands": self.commands,
        }

    async def plugins(self, caller: ActionCaller, request: ListPlugins) -> PluginList:
        return PluginList(plugins=[_summary(plugin) for plugin in self._plugins()])

    async def commands(self, caller: ActionCaller, request: ListCommands) -> CommandList:
        builtin = [CommandSummary(name=name, description=description) for name, description in BUILTIN_COMMANDS.items()]
        return CommandList(commands=[*builtin, *map(_command, self._components.commands())])


def _command(command: RegisteredComponent[CommandSpec]) -> CommandSummary:
    return CommandSummary(
        name=command.name, description=command.description, usage=command.spec.usage, plugin_id=command.plugin_id
    )


def _summary(plugin: PluginInfo) -> PluginSummary:
    fields = {"plugin_id": plugin.plugin_id, "version": plugin.version, "status": plugin.status}
    return PluginSummary.model_validate({**fields, "label": plugin.label})
