"""The port of servers that run in the Box: a process whose lines the Host relays."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from parlour.core.model.mcp_server import McpServer

from .endpoint import McpEndpoint


class ServerProcess(Protocol):
    """A started server."""

    def read(self) -> AsyncIterator[bytes]:
        """Yields what it writes. Raises ServerLost with the reason when it ends."""
        ...

    async def write(self, data: bytes) -> None:
        """Writes to its input. Raises ServerLost."""
        ...


OpenServer = Callable[[McpServer, McpEndpoint], AbstractAsyncContextManager[ServerProcess]]
"""Starts a server in the Box, and ends it with the context. Raises ServerLost."""
