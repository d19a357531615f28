"""Builds the tool subsystem: native tools and those of plugins and MCP servers, behind one registry."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from parlour.core.box.policy import NAMESPACE, SKILL_NAMESPACE
from parlour.core.config.mcp_servers import McpServerRepository
from parlour.core.model import memory
from parlour.core.secrets import SecretBox
from parlour.network.address_guard import AddressAllowlist
from parlour.providers.memory.tools import MemoryTools
from parlour.providers.tools.mcp.connection import ReconnectPolicy
from parlour.providers.tools.mcp.servers import McpServers
from parlour.providers.tools.native.artifact_read import ArtifactReadTool
from parlour.providers.tools.native.calculator import Calculator
from parlour.providers.tools.native.time import TimeNow
from parlour.providers.tools.native.tools import NativeTools
from parlour.providers.tools.native.web_fetch import WebFetch
from parlour.providers.tools.plugin_tools import PluginTools
from parlour.providers.tools.registry import ToolRegistry
from parlour_sdk.values import dataclass

from .box import BoxSubsystem
from .core import Core
from .core_ports import CorePorts
from .settings import HostSettings


@dataclass(frozen=True, slots=True)
class ToolSubsystem:
    """The tools of a Host."""

    registry: ToolRegistry
    mcp_repository: McpServerRepository
    mcp_servers: McpServers
    reserved_namespaces: frozenset[str]
    """Namespaces of the native tools, which no MCP server may use."""


@asynccontextmanager
async def open_tools(
    settings: HostSettings, registry: ToolRegistry, core: Core, ports: CorePorts, secrets: SecretBox, box: BoxSubsystem
) -> AsyncIterator[ToolSubsystem]:
    """Adds the tools to the registry, which exists already: the core needs it, and some tools need the core."""
    allowed = AddressAllowlist.parse(settings.tools.allowed_addresses)
    native = NativeTools(
        [
            TimeNow(ports.clock),
            Calculator(),
            WebFetch(allowed, settings.tools.fetch_seconds),
            ArtifactReadTool(core.artifacts, ports.providers.documents, core.sessions),
        ]
    )
    repository = McpServerRepository(ports.journal, ports.clock)
    await repository.load()
    servers = McpServers(
        repository, secrets, ports.clock, settings.mcp.allow_unsandboxed, ReconnectPolicy(), box.servers.open
    )
    registry.add(native)
    registry.add(PluginTools(ports.components, ports.plugins, settings.tools.call_seconds))
    registry.add(servers)
    registry.add(box.tools)
    registry.add(box.skill_tools)
    registry.add(MemoryTools(core.memory, core.agents, core.conversations))
    try:
        reserved = frozenset(
            {NAMESPACE, SKILL_NAMESPACE, memory.NAMESPACE, *(offer.namespace for offer in native.tools())}
        )
        yield ToolSubsystem(registry, repository, servers, reserved)
    finally:
        await servers.close()
