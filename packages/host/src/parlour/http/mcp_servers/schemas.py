"""Request and response schemas of an MCP server."""

import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from ..responses import Id, TimestampMs
from ..validation_errors import register_pattern

NAME_PATTERN = register_pattern(r"^[a-z0-9][a-z0-9_-]{0,39}$", "use small letters, digits, - and _, at most 40 of them")
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}")
HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
CONFIRMATION_TEXT = "run without a sandbox"
"""Text with which an operator confirms that a command runs with the Host's own rights."""
MIN_MEMORY_MB = 32
RESERVED_HEADERS = frozenset({"host", "content-length", "content-type", "accept", "transfer-encoding", "connection"})


def _url(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_complete = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_complete = False
    if url and (not is_complete or any(each.isspace() for each in url)):
        raise PydanticCustomError("url", "must look like https://example.org/mcp, without spaces")
    if url and (parts.username or parts.password):
        raise PydanticCustomError("url", "must hold no user name or password; put secrets into headers")
    return url


def _headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not HEADER_NAME.fullmatch(name) or name.lower() in RESERVED_HEADERS:
            raise PydanticCustomError("header", "holds a name that can't be a header of its own, such as Authorization")
        if not HEADER_VALUE.fullmatch(value) or value != value.strip():
            raise PydanticCustomError(
                "header", "holds a value with spaces around it, line breaks or characters that headers can't carry"
            )
    return headers


def _environment(variables: dict[str, str]) -> dict[str, str]:
    for name, value in variables.items():
        if not VARIABLE_NAME.fullmatch(name) or "\0" in value:
            raise PydanticCustomError("environment", "holds a name that can't be a variable, such as API_KEY")
    return variables


def _reject_nul(value: str) -> str:
    if "\0" in value:
        raise PydanticCustomError("words", "holds a NUL character, which no command can")
    return value


CommandArgument = Annotated[str, Field(max_length=4096), AfterValidator(_reject_nul)]


class McpServerBody(BaseModel):
    """A server over `http` or `sse` has a url and headers; one over `stdio` a command, arguments and environment."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"name": "weather", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ..."}}
            ]
        },
    )

    name: str = Field(pattern=NAME_PATTERN, description="The namespace of its tools: name.tool")
    transport: Literal["http", "sse", "stdio"] = "http"
    url: Annotated[str, Field(max_length=2048), AfterValidator(_url)] = ""
    headers: Annotated[dict[str, str], Field(max_length=50), AfterValidator(_headers)] = {}
    command: CommandArgument = ""
    arguments: list[CommandArgument] = Field(default=[], max_length=100)
    environment: Annotated[dict[str, str], Field(max_length=100), AfterValidator(_environment)] = {}
    enabled: bool = True
    sandboxed: bool = Field(default=False, description="Runs the command in a sandbox of the Box")
    network: bool = Field(default=False, description="Gives its sandbox a network")
    mounts: list[CommandArgument] = Field(
        default=[],
        max_length=32,
        description="Files and folders of the machine that its sandbox shows read-only, below those of the setting "
        "box.local.allowed_mount_roots",
    )
    restart: Literal["always", "on_failure", "never"] = Field(
        default="always",
        description="Whether a command is started again when it ends: always, until it has failed five times in a row, "
        "or not before the server is saved or switched on again",
    )
    memory_mb: int = Field(
        default=0, le=16_384, description="Memory of its process in the sandbox in MiB; 0 means as the sandbox has"
    )
    confirmation: str = Field(
        default="",
        max_length=100,
        description=f"For a server over stdio that is new or changed: '{CONFIRMATION_TEXT}', "
        "sent by a logged-in person; "
        "not needed where the setting mcp.allow_unsandboxed is on",
    )

    @model_validator(mode="after")
    def _whole(self) -> "McpServerBody":
        if self.transport == "stdio":
            if not self.command or self.url or self.headers:
                raise PydanticCustomError("stdio", "a server over stdio needs a command, and takes no url or headers")
        elif not self.url or self.command or self.arguments or self.environment:
            raise PydanticCustomError(
                "remote", f"a server over {self.transport} needs a url, and takes no command, arguments or environment"
            )
        if not self.sandboxed and (self.network or self.mounts or self.memory_mb):
            raise PydanticCustomError("sandbox", "network, mounts and memory_mb are for a server that is sandboxed")
        if self.transport != "stdio" and self.restart != "always":
            raise PydanticCustomError("restart", "only a server over stdio is started, so only it has a restart")
        if self.sandboxed and self.transport != "stdio":
            raise PydanticCustomError("sandbox", "only a server over stdio runs in the sandbox")
        return self

    @field_validator("memory_mb")
    @classmethod
    def _enough_memory(cls, value: int) -> int:
        if 0 != value < MIN_MEMORY_MB:
            raise PydanticCustomError("memory", f"must be 0, or at least {MIN_MEMORY_MB}")
        return value


class ResourceBody(BaseModel):
    """Which of a server's resources is to be read; of a template, with its names filled in."""

    model_config = ConfigDict(extra="forbid")

    uri: str = Field(min_length=1, max_length=2048)


class PromptBody(BaseModel):
    """Which of a server's prompts is wanted, and what goes into it."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=128)
    arguments: Annotated[dict[str, Annotated[str, Field(max_length=10_000)]], Field(max_length=50)] = {}


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
    sandboxed: bool
    network: bool
    mounts: list[str]
    restart: Literal["always", "on_failure", "never"]
    memory_mb: int
    unsandboxed_at: int
    """When that was, in milliseconds since 1970; 0: nobody did."""
    status: McpStatus
