"""Typed clients for the calls that a plugin may make to the Host, one module per namespace."""

from parlour_sdk.protocol.errors import AgentAPIError, AgentAPIException

from .calls import InvalidCall
from .plugin import PluginAPI
from .run import AgentRunAPI

__all__ = ["AgentAPIError", "AgentAPIException", "AgentRunAPI", "InvalidCall", "PluginAPI"]
