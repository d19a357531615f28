"""The public API for plugin authors: components, results, message chains and decorators.

Each name is imported when it is first used.
"""

from typing import TYPE_CHECKING

from parlour_sdk import _renamed
from parlour_sdk._lazy_imports import lazy_getattr

if TYPE_CHECKING:
    from . import chains as chains
    from . import results as results
    from .api import AgentAPIException as AgentAPIException
    from .api import AgentRunAPI as AgentRunAPI
    from .api import PluginAPI as PluginAPI
    from .chains import at as at
    from .chains import at_all as at_all
    from .chains import chain as chain
    from .chains import face as face
    from .chains import file as file
    from .chains import forward as forward
    from .chains import image as image
    from .chains import node as node
    from .chains import platform as platform
    from .chains import quote as quote
    from .chains import video as video
    from .chains import voice as voice
    from .components import AgentRunner as AgentRunner
    from .components import Command as Command
    from .components import CommandContext as CommandContext
    from .components import EventContext as EventContext
    from .components import EventListener as EventListener
    from .components import KnowledgeContext as KnowledgeContext
    from .components import KnowledgeEngine as KnowledgeEngine
    from .components import Page as Page
    from .components import PageContext as PageContext
    from .components import PageError as PageError
    from .components import Parser as Parser
    from .components import Plugin as Plugin
    from .components import Tool as Tool
    from .components import ToolContext as ToolContext
    from .components import ToolError as ToolError
    from .decorators import command as command
    from .decorators import on as on
    from .decorators import plugin as plugin
    from .decorators import runner as runner
    from .decorators import tool as tool
    from .protocol.context import AgentRunContext as AgentRunContext
    from .results import Result as Result

__version__ = "0.1.0"

LAZY_EXPORTS = {
    ".api": ("AgentAPIException", "AgentRunAPI", "PluginAPI"),
    ".chains": (
        *("at", "at_all", "chain", "chains", "face", "file", "forward"),
        *("image", "node", "platform", "quote", "video", "voice"),
    ),
    ".components": (
        *("AgentRunner", "Command", "CommandContext", "EventContext", "EventListener", "KnowledgeContext"),
        *("KnowledgeEngine", "Page", "PageContext", "PageError", "Parser", "Plugin", "Tool", "ToolContext"),
        "ToolError",
    ),
    ".decorators": ("command", "on", "runner", "tool"),
    ".plugin": ("plugin",),
    ".protocol.context": ("AgentRunContext",),
    ".results": ("Result", "results"),
}
__getattr__ = lazy_getattr(__name__, LAZY_EXPORTS)

_renamed.install()
