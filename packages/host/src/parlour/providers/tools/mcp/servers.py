"""Provides the tools of all configured MCP servers as one source, named `server.tool`."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from parlour.core.config.mcp_servers import McpServerRepository
from parlour.core.model.ids import McpServerId
from parlour.core.model.mcp_server import McpServer, Restart
from parlour.core.model.ports import Clock
from parlour.core.model.providers import CallContext, ProviderFailed
from parlour.core.secrets import SecretBox, SecretUnreadable
from parlour.core.tools.mcp import McpRequest, McpServerStatus
from parlour_sdk.protocol.tools import ToolOutcome

from ..source import OfferedTool
from .connection import McpConnection, ReconnectPolicy
from .endpoint import McpEndpoint, decrypt_endpoint
from .errors import ServerLost
from .sandboxed import OpenServer, ServerProcess
from .tool_mapping import to_request, to_tools
from .worker_process import WorkerProcess, new_session

UNSANDBOXED = (
    "a server of the transport 'stdio' would run outside any sandbox with the Host's own rights; "
    "an owner or admin confirms that where the server is edited, or the setting mcp.allow_unsandboxed allows it for all"
)

RESTARTS: Mapping[Restart, int | None] = {"always": None, "on_failure": 5, "never": 0}
"""How often in a row a server is started again after a failure."""


class McpServers:
    """Source of the tools of all MCP servers."""

    def __init__(
        self,
        repository: McpServerRepository,
        secrets: SecretBox,
        clock: Clock,
        allow_unsandboxed: bool,
        pace: ReconnectPolicy,
        open_in_box: OpenServer,
    ) -> None:
        self._repository = repository
        self._secrets = secrets
        self._clock = clock
        self._allow_unsandboxed = allow_unsandboxed
        self._pace = pace
        self._open_in_box = open_in_box
        self._worker = WorkerProcess()
        self._reload_lock = asyncio.Lock()
        """Prevents two concurrent changes of a server from leaving two connections behind."""
        self._connections: dict[str, McpConnection] = {}
        self._offers: tuple[OfferedTool, ...] | None = ()

    async def start(self) -> None:
        for server in self._repository.all():
            await self.reload(server.server_id)

    async def close(self) -> None:
        async with self._reload_lock:
            connections = list(self._connections.values())
            self._connections.clear()
            await asyncio.gather(*(connection.close() for connection in connections))
            await self._worker.close()

    def tools(self) -> Sequence[OfferedTool]:
        if self._offers is None:
            self._offers = tuple(offer for server in self._repository.all() for offer in self._offered(server))
        return self._offers

    async def call(self, context: CallContext, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome:
        name, _, tool = tool_name.partition(".")
        server = self._repository.get_by_name(name)
        if server is None:
            raise ProviderFailed("not_found", f"there is no tool '{tool_name}'")
        return await self.request(server.server_id, to_request(self.status(server.server_id).listing, tool, parameters))

    async def request(self, server_id: McpServerId, mcp_request: McpRequest) -> ToolOutcome:
        connection = self._connections.get(server_id)
        if connection is None:
            raise ProviderFailed("not_found", "this MCP server is switched off")
        return await connection.ask(mcp_request)

    def status(self, server_id: McpServerId) -> McpServerStatus:
        connection = self._connections.get(server_id)
        return connection.status if connection is not None else McpServerStatus("off")

    async def reload(self, server_id: McpServerId) -> None:
        async with self._reload_lock:
            previous = self._connections.pop(server_id, None)
            if previous is not None:
                await previous.close()
            server = self._repository.get(server_id)
            if server is not None and server.enabled:
                self._connections[server_id] = self._connection(server)
            self._change()

    async def test(self, server: McpServer) -> McpServerStatus:
        try:
            async with self._open(replace(server, server_id=McpServerId(f"test-{new_session()}"))) as (target, process):
                seconds = self._pace.until_connected(target)
                updates = self._worker.connect(new_session(), target, seconds, self._pace.refresh, process)
                async with aclosing(updates):
                    identity, listing = await anext(updates)
        except (ServerLost, SecretUnreadable, OSError) as error:
            return McpServerStatus("failed", self._clock.now(), str(error))
        return McpServerStatus("connected", self._clock.now(), identity=identity, listing=listing)

    def _connection(self, server: McpServer) -> McpConnection:
        restarts = RESTARTS[server.restart]
        return McpConnection(
            server.name, partial(self._open, server), self._worker, self._change, self._clock, self._pace, restarts
        )

    @asynccontextmanager
    async def _open(self, server: McpServer) -> AsyncIterator[tuple[McpEndpoint, ServerProcess | None]]:
        """Yields how to reach a server, and its process in the Box. Raises ServerLost or SecretUnreadable."""
        if server.transport == "stdio" and server.sandboxed:
            async with self._open_in_box(server, decrypt_endpoint(server, self._secrets)) as process:
                yield McpEndpoint("stdio", sandboxed=True), process
            return
        if server.transport == "stdio" and not (self._allow_unsandboxed or server.unsandboxed_by):
            raise ServerLost(UNSANDBOXED)
        yield decrypt_endpoint(server, self._secrets), None

    def _change(self) -> None:
        self._offers = None

    def _offered(self, server: McpServer) -> Sequence[OfferedTool]:
        return to_tools(server.name, self.status(server.server_id).listing)
