"""Provides the tools of all configured MCP servers as one source, named `server.tool`."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from parlour.core.config.mcp_servers import McpBook
from parlour.core.model.mcp_server import McpServer
from parlour.core.model.ports import Clock
from parlour.core.model.providers import Asking, ProviderFailed
from parlour.core.secrets import SecretBox, SecretUnreadable
from parlour.core.tools.mcp import Status, Wanted
from parlour_sdk.protocol.tools import ToolOutcome

from ..source import Offer
from .connection import Connection, Pace
from .endpoint import Target, opened
from .errors import ServerLost
from .tool_mapping import offered, wanted
from .worker_process import WorkerProcess, new_session

UNSANDBOXED = (
    "a server of the transport 'stdio' would run outside any sandbox with the Host's own rights; "
    "an owner or admin confirms that where the server is edited, or the setting mcp.allow_unsandboxed allows it for all"
)


class McpServers:
    """Source of the tools of all MCP servers."""

    def __init__(self, book: McpBook, secrets: SecretBox, clock: Clock, allow_unsandboxed: bool, pace: Pace) -> None:
        self._book = book
        self._secrets = secrets
        self._clock = clock
        self._allow_unsandboxed = allow_unsandboxed
        self._pace = pace
        self._worker = WorkerProcess()
        self._following = asyncio.Lock()
        """Prevents two concurrent changes of a server from leaving two connections behind."""
        self._connections: dict[str, Connection] = {}
        self._offers: tuple[Offer, ...] | None = ()

    async def start(self) -> None:
        for server in self._book.all():
            await self.follow(server.server_id)

    async def close(self) -> None:
        async with self._following:
            connections = list(self._connections.values())
            self._connections.clear()
            await asyncio.gather(*(connection.close() for connection in connections))
            await self._worker.close()

    def offers(self) -> Sequence[Offer]:
        if self._offers is None:
            self._offers = tuple(offer for server in self._book.all() for offer in self._offered(server))
        return self._offers

    async def call(self, asking: Asking, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome:
        name, _, tool = tool_name.partition(".")
        server = self._book.named(name)
        if server is None:
            raise ProviderFailed("not_found", f"there is no tool '{tool_name}'")
        return await self.ask(server.server_id, wanted(self.status(server.server_id).listing, tool, parameters))

    async def ask(self, server_id: str, wanted: Wanted) -> ToolOutcome:
        connection = self._connections.get(server_id)
        if connection is None:
            raise ProviderFailed("not_found", "this MCP server is switched off")
        return await connection.ask(wanted)

    def status(self, server_id: str) -> Status:
        connection = self._connections.get(server_id)
        return connection.status if connection is not None else Status("off")

    async def follow(self, server_id: str) -> None:
        async with self._following:
            before = self._connections.pop(server_id, None)
            if before is not None:
                await before.close()
            server = self._book.get(server_id)
            if server is not None and server.enabled:
                self._connections[server_id] = self._connection(server)
            self._change()

    async def test(self, server: McpServer) -> Status:
        try:
            target = self._target(server)
            told = self._worker.connect(new_session(), target, self._pace.until_connected(target), self._pace.refresh)
            async with aclosing(told):
                identity, listing = await anext(told)
        except (ServerLost, SecretUnreadable, OSError) as error:
            return Status("failed", self._clock.now(), str(error))
        return Status("connected", self._clock.now(), identity=identity, listing=listing)

    def _connection(self, server: McpServer) -> Connection:
        reach = partial(self._target, server)
        return Connection(server.name, reach, self._worker, self._change, self._clock, self._pace)

    def _target(self, server: McpServer) -> Target:
        """Returns how to reach a server. Raises ServerLost or SecretUnreadable with a reason."""
        if server.transport == "stdio" and not (self._allow_unsandboxed or server.unsandboxed_by):
            raise ServerLost(UNSANDBOXED)
        return opened(server, self._secrets)

    def _change(self) -> None:
        self._offers = None

    def _offered(self, server: McpServer) -> Sequence[Offer]:
        return offered(server.name, self.status(server.server_id).listing)
