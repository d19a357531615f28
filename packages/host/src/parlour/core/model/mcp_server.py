"""An MCP server as it is configured. Connecting to it is for others."""

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Literal

from parlour.core.encoding import dumps, loads
from parlour_sdk.values import dataclass

Transport = Literal["http", "sse", "stdio"]


@dataclass(frozen=True, slots=True)
class McpServer:
    server_id: str
    name: str
    """The namespace of its tools."""
    transport: Transport
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with each request; values are sealed."""
    command: str = ""
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """Of its process, besides the few variables that every process needs; values are sealed."""
    enabled: bool = True
    unsandboxed_by: str = ""
    """The person who confirmed that this command may run outside any sandbox, such as `user:<id>`."""
    unsandboxed_at: int = 0

    def encode(self) -> str:
        return dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> "McpServer":
        fields = loads(text)
        return cls(**{**fields, "arguments": tuple(fields["arguments"])})
