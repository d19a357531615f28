"""The configuration of an MCP server. `providers/tools/mcp` connects to it."""

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Literal

from parlour.core.encoding import dumps, loads
from parlour_sdk.values import dataclass

from .ids import McpServerId

Transport = Literal["http", "sse", "stdio"]
Restart = Literal["always", "on_failure", "never"]
"""Whether a command whose process ends is started again; `on_failure` gives up after some failures in a row."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """One configured MCP server."""

    server_id: McpServerId
    name: str
    """Namespace of the server's tools."""
    transport: Transport
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    """HTTP headers of each request; values are sealed."""
    command: str = ""
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment of its process, besides the few variables that every process needs; values are sealed."""
    enabled: bool = True
    unsandboxed_by: str = ""
    """The operator who confirmed that this command may run without a sandbox, such as `user:<id>`."""
    unsandboxed_at: int = 0
    sandboxed: bool = False
    """True if its command runs in a sandbox of the Box."""
    network: bool = False
    """True if its sandbox has a network."""
    mounts: tuple[str, ...] = ()
    """Files and folders of the machine that its sandbox shows read-only."""
    restart: Restart = "always"
    memory_mb: int = 0
    """Memory that its process in the sandbox may use; 0 means as much as the sandbox has."""

    def encode(self) -> str:
        return dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> "McpServer":
        fields = loads(text)
        lists = {name: tuple(fields.get(name) or ()) for name in ("arguments", "mounts")}
        return cls(**{**fields, **lists})
