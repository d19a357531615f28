"""Talks to one MCP server with the official client.

Both forms of the protocol are tried in this order: the current one without sessions, then the previous one.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from mcp.client import Client, IncomingMessage
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    Implementation,
    Prompt,
    PromptListChangedNotification,
    Resource,
    ResourceListChangedNotification,
    ResourceTemplate,
    Tool,
    ToolListChangedNotification,
)
from pydantic import ValidationError

from parlour.core.tools.mcp import McpListing, McpRequest, McpServerIdentity
from parlour.version import VERSION
from parlour_sdk.protocol.tools import ToolOutcome

from ..source import error_outcome
from .capabilities import MAX_PROMPTS, MAX_RESOURCES, MAX_TOOLS, build_listing
from .content import prompt_outcome, resource_outcome, tool_outcome
from .endpoint import McpEndpoint
from .errors import ATTEMPT, Attempt, ServerLost, TransportProblem, describe_error
from .relay import Relay
from .transports import transport

MAX_PAGES = 50
HTTP_ERROR_MESSAGES = ("Session terminated", "Server returned an error response")
"""Messages of the client library for a response that was only an HTTP status."""
CHANGES = (ToolListChangedNotification, ResourceListChangedNotification, PromptListChangedNotification)

Listed = TypeVar("Listed")
Page = tuple[Sequence[Listed], str | None]


class McpSession:
    """A connected server. `trouble.closed` is set when the connection ends."""

    def __init__(self, client: Client, problem: TransportProblem, changed: asyncio.Event) -> None:
        self._client = client
        self.trouble = problem
        self.changed = changed
        """Set when the server reports that its tools, resources or prompts have changed."""

    @property
    def identity(self) -> McpServerIdentity:
        info = self._client.server_info
        return McpServerIdentity(self._client.protocol_version, info.name if info else "", info.version if info else "")

    async def listing(self) -> McpListing:
        """Lists the tools, resources and prompts that the server says it supports."""
        able = self._client.server_capabilities
        tools = await _pages(self._tools, MAX_TOOLS) if able.tools or not (able.resources or able.prompts) else []
        resources: list[Resource | ResourceTemplate] = []
        if able.resources:
            resources += await _pages(self._resources, MAX_RESOURCES)
            resources += await _if_known(_pages(self._templates, MAX_RESOURCES))
        prompts = await _pages(self._prompts, MAX_PROMPTS) if able.prompts else []
        return build_listing(tools, resources, prompts)

    async def ask(self, request: McpRequest) -> ToolOutcome:
        """Sends a request. Raises ServerLost. A refusal by the server itself is an outcome for the model."""
        attempt = Attempt()
        ATTEMPT.set(attempt)
        self.trouble.record("")
        try:
            return await self._send_request(request)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED or error.message in HTTP_ERROR_MESSAGES:
                self.trouble.closed.set()
                raise ServerLost(describe_error(error, self.trouble), attempt.unsent) from error
            return error_outcome(error.message)
        except (ValidationError, RuntimeError) as error:
            return error_outcome(f"the server's answer does not follow the protocol: {type(error).__name__}")

    async def _send_request(self, request: McpRequest) -> ToolOutcome:
        match request.kind:
            case "tool":
                return tool_outcome(await self._client.call_tool(request.name, dict(request.parameters)))
            case "resource":
                return resource_outcome(await self._client.read_resource(request.name, cache_mode="refresh"))
            case "prompt":
                arguments = {name: str(value) for name, value in request.parameters.items()}
                return prompt_outcome(await self._client.get_prompt(request.name, arguments))

    async def _tools(self, cursor: str | None) -> Page[Tool]:
        page = await self._client.list_tools(cursor=cursor, cache_mode="refresh")
        return page.tools, page.next_cursor

    async def _resources(self, cursor: str | None) -> Page[Resource]:
        page = await self._client.list_resources(cursor=cursor, cache_mode="refresh")
        return page.resources, page.next_cursor

    async def _templates(self, cursor: str | None) -> Page[ResourceTemplate]:
        page = await self._client.list_resource_templates(cursor=cursor, cache_mode="refresh")
        return page.resource_templates, page.next_cursor

    async def _prompts(self, cursor: str | None) -> Page[Prompt]:
        page = await self._client.list_prompts(cursor=cursor, cache_mode="refresh")
        return page.prompts, page.next_cursor


@asynccontextmanager
async def open_session(
    target: McpEndpoint, problem: TransportProblem, relay: Relay | None = None
) -> AsyncIterator[McpSession]:
    """Connects to a server. It must be entered and left by the same task."""
    changed = asyncio.Event()

    async def noticed(message: IncomingMessage) -> None:
        if isinstance(message, CHANGES):
            changed.set()

    info = Implementation(name="parlour", version=VERSION)
    streams = transport(target, problem, relay)
    async with Client(streams, message_handler=noticed, client_info=info, cache=None) as client:
        problem.record("")
        yield McpSession(client, problem, changed)


async def _pages(page: Callable[[str | None], Awaitable[Page[Listed]]], limit: int) -> list[Listed]:
    """Reads all pages, or stops as soon as the limit is exceeded."""
    items: list[Listed] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page_items, cursor = await page(cursor)
        items += page_items
        if cursor is None or len(items) > limit:
            break
    return items


async def _if_known(listing: Awaitable[list[Any]]) -> list[Any]:
    """Returns an empty list if the server does not know the method: not all servers with resources have templates."""
    try:
        return await listing
    except MCPError as error:
        if error.code != METHOD_NOT_FOUND:
            raise
        return []
