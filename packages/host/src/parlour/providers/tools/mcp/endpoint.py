"""Defines how a server is reached: its configuration with decrypted secrets, kept only while it is used."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from parlour.core.model.mcp_server import McpServer, Transport
from parlour.core.secrets import SecretBox
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class McpEndpoint:
    """Address or command of a server, with decrypted secrets."""

    transport: Transport
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    command: str = ""
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    sandboxed: bool = False
    """True if the Host relays the lines of a process in the Box."""

    @classmethod
    def decode(cls, fields: Mapping[str, Any]) -> "McpEndpoint":
        return cls(**{**fields, "arguments": tuple(fields["arguments"])})


def decrypt_endpoint(server: McpServer, secrets: SecretBox) -> McpEndpoint:
    """Decrypts the configuration of a server. Raises SecretUnreadable."""
    return McpEndpoint(
        server.transport,
        server.url,
        {name: secrets.open(value) for name, value in server.headers.items()},
        server.command,
        server.arguments,
        {name: secrets.open(value) for name, value in server.environment.items()},
    )
