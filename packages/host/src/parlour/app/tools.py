"""Builds the tool subsystem: native tools and those of plugins and MCP servers, behind one registry."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from parlour.core.config.mcp_servers import McpBook
from parlour.core.secrets import SecretBox
from parlour.providers.http.address_guard import Allowed
from parlour.providers.tools.mcp.connection import Pace
from parlour.providers.tools.mcp.servers import McpServers
from parlour.providers.tools.native.artifact_read import ArtifactRead
from parlour.providers.tools.native.calculator import Calculator
from parlour.providers.tools.native.time import TimeNow
from parlour.providers.tools.native.tools import NativeTools
from parlour.providers.tools.native.web_fetch import WebFetch
from parlour.providers.tools.plugin import PluginTools
from parlour.providers.tools.registry import ToolRegistry
from parlour_sdk.values import dataclass

from .core import Core, Ports
from .settings import Settings


@dataclass(frozen=True, slots=True)
class ToolSide:
    """The tools of a Host."""

    registry: ToolRegistry
    mcp_book: McpBook
    mcp_servers: McpServers
    reserved: frozenset[str]
    """Namespaces of the native tools, which no MCP server may use."""


@asynccontextmanager
async def open_tool_side(
    settings: Settings, registry: ToolRegistry, core: Core, ports: Ports, secrets: SecretBox
) -> AsyncIterator[ToolSide]:
    """Adds the tools to the registry, which exists already: the core needs it, and some tools need the core."""
    allowed = Allowed.of(settings.tools.allowed_addresses)
    native = NativeTools(
        [
            TimeNow(ports.clock),
            Calculator(),
            WebFetch(allowed, settings.tools.fetch_seconds),
            ArtifactRead(core.artifacts, core.sessions),
        ]
    )
    book = McpBook(ports.journal, ports.clock)
    await book.load()
    servers = McpServers(book, secrets, ports.clock, settings.mcp.allow_unsandboxed, Pace())
    registry.add(native)
    registry.add(PluginTools(ports.components, ports.plugins, settings.tools.call_seconds))
    registry.add(servers)
    try:
        yield ToolSide(registry, book, servers, frozenset(offer.namespace for offer in native.offers()))
    finally:
        await servers.close()
