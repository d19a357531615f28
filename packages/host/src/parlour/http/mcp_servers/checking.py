"""Makes MCP servers out of what people write, or says which field can't be so. Secrets go in sealed and come out
masked."""

from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any

from parlour.core.agents.forms import MASKED
from parlour.core.mcp.book import McpBook
from parlour.core.mcp.port import Status
from parlour.core.mcp.server import McpServer
from parlour.core.secrets import SecretBox

from ..errors import Problem
from .schemas import McpServerBody


class McpServerForm:
    def __init__(self, book: McpBook, secrets: SecretBox, reserved: Collection[str], allow_unsandboxed: bool) -> None:
        self._book = book
        self._secrets = secrets
        self._reserved = reserved
        self._allow_unsandboxed = allow_unsandboxed

    def server(self, server_id: str, body: McpServerBody, before: McpServer | None = None) -> McpServer:
        namesake = self._book.named(body.name)
        if body.name in self._reserved:
            raise refused("name", f"'{body.name}' is the namespace of Parlour's own tools; choose another name")
        if namesake is not None and namesake.server_id != server_id:
            raise taken(body.name)
        if body.transport == "stdio" and not self._allow_unsandboxed:
            words = "stdio servers run outside any sandbox; the operator allows them with mcp.allow_unsandboxed"
            raise refused("transport", words)
        kept = before if before is not None and _is_same_place(before, body) else None
        return McpServer(
            server_id,
            body.name,
            body.transport,
            body.url,
            self._sealed("headers", body.headers, kept.headers if kept else {}),
            body.command,
            tuple(body.arguments),
            self._sealed("environment", body.environment, kept.environment if kept else {}),
            body.enabled,
        )

    def _sealed(self, field: str, given: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
        """What is sent as it was shown stays as it is, but never goes elsewhere than where it was meant to."""
        for name, value in given.items():
            if value == MASKED and name not in before:
                words = "this is the mask of a secret, which belongs to another address or command, or is new; send"
                raise refused(f"{field}.{name}", f"{words} the secret itself")
        return {name: before[name] if value == MASKED else self._secrets.seal(value) for name, value in given.items()}


def _is_same_place(before: McpServer, body: McpServerBody) -> bool:
    there = (before.transport, before.url, before.command, list(before.arguments))
    return there == (body.transport, body.url, body.command, body.arguments)


def shown(server: McpServer) -> dict[str, Any]:
    """Of secrets, that there are such."""
    return {
        **asdict(server),
        "headers": dict.fromkeys(server.headers, MASKED),
        "environment": dict.fromkeys(server.environment, MASKED),
    }


def shown_status(status: Status) -> dict[str, Any]:
    return {
        "state": status.state,
        "since": status.since or None,
        "last_error": status.last_error or None,
        "protocol_version": status.identity.protocol_version or None,
        "server": {"name": status.identity.name, "version": status.identity.version},
        **asdict(status.listing),
    }


def refused(field: str, message: str) -> Problem:
    fields = [{"field": field, "message": message}]
    return Problem(422, "invalid_argument", f"{field}: {message}", {"fields": fields})


def taken(name: str) -> Problem:
    return Problem(409, "conflict", f"name: another MCP server is called '{name}' already; its tools are {name}.…")
