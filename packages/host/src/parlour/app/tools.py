"""The Host's tools, wired: its own, those of plugins and those of MCP servers, behind one registry."""

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
    registry: ToolRegistry
    mcp_book: McpBook
    mcp_servers: McpServers
    reserved: frozenset[str]
    """Namespaces of the Host's own tools, which no MCP server may take."""


@asynccontextmanager
async def open_tool_side(
    settings: Settings, registry: ToolRegistry, core: Core, ports: Ports, secrets: SecretBox
) -> AsyncIterator[ToolSide]:
    """The registry is there before the core, which is built on it; what needs the core joins it here."""
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
