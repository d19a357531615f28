"""Talks to one MCP server with the official client: both of the protocol's manners, the current one without sessions
and the one before it, are tried in that order."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from mcp.client import Client, IncomingMessage
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, Implementation, Tool, ToolListChangedNotification
from pydantic import ValidationError
from pydantic_core import to_json

from parlour.core.mcp.port import Identity, Listing, RemoteTool
from parlour.version import VERSION
from parlour_sdk.protocol.tools import ToolOutcome

from ..cleaning import readable
from ..source import refused
from .content import outcome
from .failures import ATTEMPT, Attempt, ServerLost, Trouble, in_words
from .target import Target
from .transports import transport

TOOLS = 500
SCHEMA_BYTES = 32 * 1024
SCHEMA_DEPTH = 32
PAGES = 50
NAME_CHARACTERS = 128
DESCRIPTION_CHARACTERS = 10_000
TURNED_AWAY = ("Session terminated", "Server returned an error response")
"""What the client library says when an answer was only an HTTP status."""


class Session:
    """A server that is connected. `trouble.gone` is set when it is not any more."""

    def __init__(self, client: Client, trouble: Trouble, changed: asyncio.Event) -> None:
        self._client = client
        self.trouble = trouble
        self.changed = changed
        """Its tools are not what they were."""

    @property
    def identity(self) -> Identity:
        info = self._client.server_info
        return Identity(self._client.protocol_version, info.name if info else "", info.version if info else "")

    async def tools(self) -> Listing:
        found: list[Tool] = []
        cursor: str | None = None
        for _ in range(PAGES):
            page = await self._client.list_tools(cursor=cursor, cache_mode="refresh")
            found += page.tools
            cursor = page.next_cursor
            if cursor is None or len(found) > TOOLS:
                break
        return _listing(found)

    async def call(self, name: str, parameters: dict[str, Any]) -> ToolOutcome:
        """Raises ServerLost. What the server itself refuses is an outcome for the model."""
        attempt = Attempt()
        ATTEMPT.set(attempt)
        self.trouble.note("")
        try:
            return outcome(await self._client.call_tool(name, parameters))
        except MCPError as error:
            if error.code == CONNECTION_CLOSED or error.message in TURNED_AWAY:
                self.trouble.gone.set()
                raise ServerLost(in_words(error, self.trouble), attempt.unsent) from error
            return refused(error.message)
        except (ValidationError, RuntimeError) as error:
            return refused(f"the server's answer does not follow the protocol: {type(error).__name__}")


@asynccontextmanager
async def connected(target: Target, trouble: Trouble) -> AsyncIterator[Session]:
    """To be entered and left by the same task."""
    changed = asyncio.Event()

    async def noticed(message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            changed.set()

    info = Implementation(name="parlour", version=VERSION)
    streams = transport(target, trouble)
    async with Client(streams, message_handler=noticed, client_info=info, cache=None) as client:
        trouble.note("")
        yield Session(client, trouble, changed)


def _listing(tools: list[Tool]) -> Listing:
    kept: dict[str, RemoteTool] = {}
    left_out: list[str] = []
    for tool in tools[:TOOLS]:
        if not 0 < len(tool.name) <= NAME_CHARACTERS or not tool.name.isprintable() or " " in tool.name:
            left_out.append(f"a tool's name is empty, too long or not one word: '{tool.name[:40]!a}'")
        elif not _fits(tool.input_schema):
            left_out.append(f"the schema of its tool '{tool.name}' is too large or too deep")
        elif tool.name in kept:
            left_out.append(f"it lists two tools named '{tool.name}'; the first one counts")
        else:
            kept[tool.name] = _remote(tool)
    if len(tools) > TOOLS:
        left_out.append(f"it lists more than {TOOLS} tools; the first {TOOLS} count")
    return Listing(tuple(kept.values()), tuple(left_out))


def _fits(schema: Any) -> bool:
    return _depth(schema) <= SCHEMA_DEPTH and len(to_json(schema)) <= SCHEMA_BYTES


def _depth(value: Any) -> int:
    """As far as it matters."""
    level, depth = [value], 0
    while level and depth <= SCHEMA_DEPTH:
        depth += 1
        level = [inner for each in level for inner in _inside(each)]
    return depth


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _remote(tool: Tool) -> RemoteTool:
    hints = tool.annotations
    described = readable(tool.description or tool.title or "")
    read_only = hints is not None and hints.read_only_hint is True
    return RemoteTool(tool.name, described[:DESCRIPTION_CHARACTERS], tool.input_schema, read_only)
