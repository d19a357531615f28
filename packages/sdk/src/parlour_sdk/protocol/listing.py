"""What a plugin can ask about the Host's surroundings: bots and what they support, plugins, commands, tools."""

from .base import I18nText, Tolerant
from .calls import Call
from .tools import ToolDetail


class ListBots(Call):
    """Asks which bots there are."""


class BotSummary(Tolerant):
    """A bot and how it is doing."""

    bot_id: str
    name: str
    adapter: str
    enabled: bool
    state: str


class BotList(Tolerant):
    """All bots of the workspace."""

    bots: list[BotSummary] = []


class GetBotCapabilities(Call):
    """Asks what a bot supports."""

    bot_id: str


class BotCapabilities(Tolerant):
    """What a bot's adapter supports in the mode it is connected in."""

    bot_id: str
    adapter: str
    events: list[str] = []
    apis: list[str] = []
    actions: list[str] = []


class ListPlugins(Call):
    """Asks which plugins there are."""


class PluginSummary(Tolerant):
    """A plugin and how it is doing."""

    plugin_id: str
    version: str
    label: I18nText | None = None
    status: str


class PluginList(Tolerant):
    """All plugins that are installed."""

    plugins: list[PluginSummary] = []


class ListCommands(Call):
    """Asks which commands there are."""


class CommandSummary(Tolerant):
    """A command; one without a plugin is built in."""

    name: str
    description: I18nText | None = None
    usage: str | None = None
    plugin_id: str | None = None


class CommandList(Tolerant):
    """All commands."""

    commands: list[CommandSummary] = []


class ListTools(Call):
    """Asks which tools the plugin may use."""


class ToolList(Tolerant):
    """The tools that the plugin may use."""

    tools: list[ToolDetail] = []


class StartConversation(Call):
    """Ends the present conversation of this chat and begins a new one."""

    conversation_id: str


class ConversationStarted(Tolerant):
    """The new conversation."""

    conversation_id: str
