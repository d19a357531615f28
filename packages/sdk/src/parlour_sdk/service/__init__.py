"""Answers the Host's requests to a plugin: discovery, runs, events, tools, commands, knowledge.

It works with any peer, in any process.
"""

from .plugin import PluginService

__all__ = ["PluginService"]
