"""What there is to say of an MCP server that is connected, or should be, and whom to ask."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, Protocol

from parlour.core.model.mcp_server import McpServer
from parlour_sdk.protocol.tools import ToolOutcome
from parlour_sdk.values import dataclass

State = Literal["off", "connecting", "connected", "failed"]


@dataclass(frozen=True, slots=True)
class RemoteTool:
    """A tool as its server describes it; whether it only reads is the server's own word."""

    name: str
    description: str = ""
    parameters_schema: Mapping[str, Any] = field(default_factory=dict)
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class RemoteResource:
    """Something that a server lets others read."""

    uri: str
    """Of a template, with names in braces to be filled in."""
    name: str
    description: str = ""
    mime_type: str = ""
    is_template: bool = False


@dataclass(frozen=True, slots=True)
class PromptArgument:
    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class RemotePrompt:
    """Words for a model that a server has ready."""

    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    tools: tuple[RemoteTool, ...] = ()
    resources: tuple[RemoteResource, ...] = ()
    prompts: tuple[RemotePrompt, ...] = ()
    left_out: tuple[str, ...] = ()
    """A sentence for each thing that is not offered."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of a server: to call a tool, to read the resource of an address, to fill a prompt in."""

    kind: Literal["tool", "resource", "prompt"]
    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Identity:
    """What a server told of itself when it was connected."""

    protocol_version: str = ""
    name: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    state: State
    since: int = 0
    last_error: str = ""
    identity: Identity = Identity()
    listing: Listing = Listing()


class McpConnections(Protocol):
    """The servers of the book, kept connected."""

    def status(self, server_id: str) -> Status: ...

    async def follow(self, server_id: str) -> None:
        """Does as the book now says of this server."""
        ...

    async def test(self, server: McpServer) -> Status:
        """Connects once, apart from everything that is connected, and lets go again."""
        ...

    async def ask(self, server_id: str, wanted: Wanted) -> ToolOutcome:
        """Raises ProviderFailed; what the server itself refuses is an outcome."""
        ...
