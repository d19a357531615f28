"""Port for MCP servers: their state, their tools, resources and prompts, and requests to them."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, Protocol

from parlour.core.model.ids import McpServerId
from parlour.core.model.mcp_server import McpServer
from parlour_sdk.protocol.tools import ToolOutcome
from parlour_sdk.values import dataclass

McpConnectionState = Literal["off", "connecting", "connected", "failed"]


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool as its server describes it. `read_only` is what the server claims."""

    name: str
    description: str = ""
    parameters_schema: Mapping[str, Any] = field(default_factory=dict)
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class McpResource:
    """A resource that a server offers for reading."""

    uri: str
    """Address of the resource; for a template, with placeholders in braces."""
    name: str
    description: str = ""
    mime_type: str = ""
    is_template: bool = False


@dataclass(frozen=True, slots=True)
class McpPromptArgument:
    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class McpPrompt:
    """A prompt template that a server offers."""

    name: str
    description: str = ""
    arguments: tuple[McpPromptArgument, ...] = ()


@dataclass(frozen=True, slots=True)
class McpListing:
    """Everything that a server offers."""

    tools: tuple[McpTool, ...] = ()
    resources: tuple[McpResource, ...] = ()
    prompts: tuple[McpPrompt, ...] = ()
    left_out: tuple[str, ...] = ()
    """One sentence for each item that was left out, with the reason."""


@dataclass(frozen=True, slots=True)
class McpRequest:
    """A request to a server: call a tool, read the resource of an address, or fill in a prompt."""

    kind: Literal["tool", "resource", "prompt"]
    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class McpServerIdentity:
    """Name and versions that a server reported when it was connected."""

    protocol_version: str = ""
    name: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class McpServerStatus:
    """Connection state of a server and what it offers."""

    state: McpConnectionState
    since: int = 0
    last_error: str = ""
    identity: McpServerIdentity = McpServerIdentity()
    listing: McpListing = McpListing()


class McpConnections(Protocol):
    """Keeps the configured MCP servers connected."""

    def status(self, server_id: McpServerId) -> McpServerStatus: ...

    async def reload(self, server_id: McpServerId) -> None:
        """Applies the current configuration of this server."""
        ...

    async def test(self, server: McpServer) -> McpServerStatus:
        """Connects to a server once, independently of its regular connection, and disconnects again."""
        ...

    async def request(self, server_id: McpServerId, request: McpRequest) -> ToolOutcome:
        """Sends a request to a server. Raises ProviderFailed; an error that the server returns is an outcome."""
        ...
