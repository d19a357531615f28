"""Response schemas of an MCP server and its status."""

from typing import Any, Literal

from typing_extensions import TypedDict

from ..responses import Id, TimestampMs


class McpToolResponse(TypedDict):
    """As the server describes it."""

    name: str
    description: str
    parameters_schema: dict[str, Any]
    read_only: bool


class McpResourceResponse(TypedDict):
    uri: str
    """Of a template, with names in braces to be filled in."""
    name: str
    description: str
    mime_type: str
    is_template: bool


class McpPromptArgumentResponse(TypedDict):
    name: str
    description: str
    required: bool


class McpPromptResponse(TypedDict):
    name: str
    description: str
    arguments: list[McpPromptArgumentResponse]


class McpContent(TypedDict):
    """What a resource holds, or a prompt says; or why it can't be had, in words."""

    content: list[dict[str, Any]]
    """Texts, files and JSON values, as runs are given them."""
    is_error: bool
    truncated: bool


class McpIdentity(TypedDict):
    name: str
    version: str


class McpStatus(TypedDict):
    state: Literal["off", "connecting", "connected", "failed"]
    since: TimestampMs | None
    last_error: str | None
    protocol_version: str | None
    server: McpIdentity
    """As it calls itself."""
    tools: list[McpToolResponse]
    resources: list[McpResourceResponse]
    prompts: list[McpPromptResponse]
    left_out: list[str]
    """A sentence for each thing that is not offered."""


class McpServerResponse(TypedDict):
    server_id: Id
    name: str
    """The namespace of its tools."""
    transport: Literal["http", "sse", "stdio"]
    url: str
    headers: dict[str, str]
    """Their values are masked, as those of `environment`."""
    command: str
    arguments: list[str]
    environment: dict[str, str]
    enabled: bool
    unsandboxed_by: str
    """Of a server over stdio: who confirmed that it may run outside any sandbox, such as `user:<id>`."""
    unsandboxed_at: int
    """When that was, in milliseconds since 1970; 0: nobody did."""
    status: McpStatus
