"""Builds MCP servers from request bodies, or raises a Problem that names an invalid field. Secrets are stored sealed
and returned masked."""

from collections.abc import Collection, Mapping
from dataclasses import asdict

from parlour.core.config.form_validation import SECRET_MASK
from parlour.core.config.mcp_servers import McpServerRepository
from parlour.core.model.ids import McpServerId
from parlour.core.model.mcp_server import McpServer
from parlour.core.secrets import SecretBox
from parlour.core.tools.mcp import McpPrompt, McpServerStatus
from parlour_sdk.values import dataclass

from ..errors import Problem
from ..responses import Json
from .schemas import CONFIRMATION_TEXT, McpPromptResponse, McpServerBody, McpServerResponse, McpStatus

NOT_CONFIRMED = ("", 0)


@dataclass(frozen=True, slots=True)
class ChangeRequester:
    """The user who requests a change of a server, and the time of the request."""

    user: str
    """Empty for an API key."""
    now: int


class McpServerMapper:
    def __init__(
        self, repository: McpServerRepository, secrets: SecretBox, reserved: Collection[str], allow_unsandboxed: bool
    ) -> None:
        self._repository = repository
        self._secrets = secrets
        self._reserved = reserved
        self._allow_unsandboxed = allow_unsandboxed

    def to_server(
        self,
        server_id: McpServerId,
        body: McpServerBody,
        before: McpServer | None = None,
        requester: ChangeRequester | None = None,
    ) -> McpServer:
        """Builds the server; raises Problem for invalid input. `requester` may confirm a command."""
        namesake = self._repository.get_by_name(body.name)
        if body.name in self._reserved:
            raise invalid_field("name", f"'{body.name}' is the namespace of Parlour's own tools; choose another name")
        if namesake is not None and namesake.server_id != server_id:
            raise name_conflict(body.name)
        runs_here = body.transport == "stdio" and not body.sandboxed
        confirmed = self._sandbox_confirmation(body, before, requester) if runs_here else NOT_CONFIRMED
        unchanged = before if before is not None and _is_same_target(before, body) else None
        return McpServer(
            server_id,
            body.name,
            body.transport,
            body.url,
            self._seal("headers", body.headers, unchanged.headers if unchanged else {}),
            body.command,
            tuple(body.arguments),
            self._seal("environment", body.environment, unchanged.environment if unchanged else {}),
            body.enabled,
            *confirmed,
            body.sandboxed,
            body.network,
            tuple(body.mounts),
            body.restart,
            body.memory_mb,
        )

    def _sandbox_confirmation(
        self, body: McpServerBody, before: McpServer | None, requester: ChangeRequester | None
    ) -> tuple[str, int]:
        """Returns the user who confirmed that the command may run outside any sandbox, and the time.

        A confirmation is valid for one command with its arguments and environment; changing any of them requires a new
        one.
        """
        if before is not None and before.unsandboxed_by and _is_same_command(before, body):
            return before.unsandboxed_by, before.unsandboxed_at
        is_confirmed = body.confirmation.strip().casefold() == CONFIRMATION_TEXT
        if is_confirmed and requester is not None and requester.user:
            return requester.user, requester.now
        if self._allow_unsandboxed:
            return NOT_CONFIRMED
        if is_confirmed:
            message = "an API key can't confirm this; log in as an owner or admin, or set mcp.allow_unsandboxed"
            raise invalid_field("confirmation", message)
        message = "this command would run outside any sandbox, with the Host's own rights;"
        confirm = f"an owner or admin who is logged in confirms that with the words '{CONFIRMATION_TEXT}'"
        raise invalid_field("confirmation", f"{message} {confirm}")

    def _seal(self, field: str, submitted: Mapping[str, str], before: Mapping[str, str]) -> dict[str, str]:
        """Seals the given values. A masked value keeps the stored secret, which is never sent to another address or
        command than the one it was entered for."""
        for name, value in submitted.items():
            if value == SECRET_MASK and name not in before:
                message = "this is the mask of a secret, which belongs to another address or command, or is new; send"
                raise invalid_field(f"{field}.{name}", f"{message} the secret itself")
        return {
            name: before[name] if value == SECRET_MASK else self._secrets.seal(value)
            for name, value in submitted.items()
        }


def _is_same_target(before: McpServer, body: McpServerBody) -> bool:
    target = (before.transport, before.url, before.command, list(before.arguments))
    return target == (body.transport, body.url, body.command, body.arguments)


def _is_same_command(before: McpServer, body: McpServerBody) -> bool:
    same_environment = all(
        value == SECRET_MASK and name in before.environment for name, value in body.environment.items()
    )
    return same_environment and len(body.environment) == len(before.environment) and _is_same_target(before, body)


def audit_view(server: McpServer) -> Json:
    """Serializes a server with masked secrets."""
    return {
        **asdict(server),
        "headers": dict.fromkeys(server.headers, SECRET_MASK),
        "environment": dict.fromkeys(server.environment, SECRET_MASK),
    }


def to_response(server: McpServer, status: McpServerStatus) -> McpServerResponse:
    """Returns the server with masked secrets, and its status."""
    return {
        "server_id": server.server_id,
        "name": server.name,
        "transport": server.transport,
        "url": server.url,
        "headers": dict.fromkeys(server.headers, SECRET_MASK),
        "command": server.command,
        "arguments": list(server.arguments),
        "environment": dict.fromkeys(server.environment, SECRET_MASK),
        "enabled": server.enabled,
        "unsandboxed_by": server.unsandboxed_by,
        "unsandboxed_at": server.unsandboxed_at,
        "sandboxed": server.sandboxed,
        "network": server.network,
        "mounts": list(server.mounts),
        "restart": server.restart,
        "memory_mb": server.memory_mb,
        "status": status_response(status),
    }


def status_response(status: McpServerStatus) -> McpStatus:
    listing = status.listing
    return {
        "state": status.state,
        "since": status.since or None,
        "last_error": status.last_error or None,
        "protocol_version": status.identity.protocol_version or None,
        "server": {"name": status.identity.name, "version": status.identity.version},
        "tools": [
            {
                "name": each.name,
                "description": each.description,
                "parameters_schema": dict(each.parameters_schema),
                "read_only": each.read_only,
            }
            for each in listing.tools
        ],
        "resources": [
            {
                "uri": each.uri,
                "name": each.name,
                "description": each.description,
                "mime_type": each.mime_type,
                "is_template": each.is_template,
            }
            for each in listing.resources
        ],
        "prompts": [_prompt(each) for each in listing.prompts],
        "left_out": list(listing.left_out),
    }


def _prompt(prompt: McpPrompt) -> McpPromptResponse:
    return {
        "name": prompt.name,
        "description": prompt.description,
        "arguments": [
            {"name": each.name, "description": each.description, "required": each.required} for each in prompt.arguments
        ],
    }


def invalid_field(field: str, message: str) -> Problem:
    fields = [{"field": field, "message": message}]
    return Problem(422, "invalid_argument", f"{field}: {message}", {"fields": fields})


def name_conflict(name: str) -> Problem:
    return Problem(409, "conflict", f"name: another MCP server is called '{name}' already; its tools are {name}.…")
