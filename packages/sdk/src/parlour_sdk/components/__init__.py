"""The classes that a plugin implements. Each is imported when it is first used."""

from typing import TYPE_CHECKING

from parlour_sdk._lazy_imports import lazy_getattr

if TYPE_CHECKING:
    from .agent_runner import AgentRunner as AgentRunner
    from .command import Command as Command
    from .command import CommandContext as CommandContext
    from .event_context import EventContext as EventContext
    from .event_listener import EventListener as EventListener
    from .event_listener import on as on
    from .knowledge_engine import KnowledgeContext as KnowledgeContext
    from .knowledge_engine import KnowledgeEngine as KnowledgeEngine
    from .page import Page as Page
    from .page import PageContext as PageContext
    from .page import PageError as PageError
    from .parser import Parser as Parser
    from .parser import content_of as content_of
    from .plugin import Plugin as Plugin
    from .tool import Tool as Tool
    from .tool import ToolContext as ToolContext
    from .tool import ToolError as ToolError

LAZY_EXPORTS = {
    ".agent_runner": ("AgentRunner",),
    ".command": ("Command", "CommandContext"),
    ".event_context": ("EventContext",),
    ".event_listener": ("EventListener", "on"),
    ".knowledge_engine": ("KnowledgeContext", "KnowledgeEngine"),
    ".page": ("Page", "PageContext", "PageError"),
    ".parser": ("Parser", "content_of"),
    ".plugin": ("Plugin",),
    ".tool": ("Tool", "ToolContext", "ToolError"),
}
__getattr__ = lazy_getattr(__name__, LAZY_EXPORTS)
