"""What a plugin answers: discovery, runs, events, tools, commands, knowledge. Over any peer, in any process."""

from .plugin import PluginService

__all__ = ["PluginService"]
