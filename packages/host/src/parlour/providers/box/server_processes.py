"""Runs MCP servers in the Box: each is a managed process of a session of its own, which lasts as long as it is used."""

import base64
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any, Final

from parlour.core.box.messages import SessionSpec
from parlour.core.box.profiles import PROFILES
from parlour.core.model.mcp_server import McpServer
from parlour.core.model.providers import ProviderFailed

from ..tools.mcp.endpoint import McpEndpoint
from ..tools.mcp.errors import ServerLost
from .connection import BoxConnection

START_SECONDS: Final = 60.0
READY_SECONDS: Final = 30.0
PIECE_BYTES: Final = 512 * 1024
SESSION_ID_CHARACTERS: Final = 24
PROFILE: Final = "network_basic"


class BoxServerProcess:
    """A server in the Box."""

    def __init__(self, connection: BoxConnection, session_id: str, process_id: str) -> None:
        self._connection = connection
        self._names = {"session_id": session_id, "process_id": process_id}

    async def read(self) -> AsyncIterator[bytes]:
        """Yields what it writes. Raises ServerLost when it ends."""
        parts: AsyncGenerator[dict[str, Any], None] = self._connection.stream("box_process_attach", self._names)
        try:
            async with aclosing(parts):
                async for part in parts:
                    if "data" not in part:
                        raise ServerLost(_end_reason(part))
                    yield base64.b64decode(part["data"])
        except ProviderFailed as failure:
            raise ServerLost(failure.message) from failure

    async def write(self, data: bytes) -> None:
        """Writes to the server's input. Raises ServerLost if the Box fails; that the process has ended is reported
        by `read` only.
        """
        for start in range(0, len(data), PIECE_BYTES):
            piece = base64.b64encode(data[start : start + PIECE_BYTES]).decode()
            try:
                await self._connection.call("box_process_feed", {**self._names, "data": piece})
            except ProviderFailed as failure:
                if failure.code != "process_not_found":  # its end is reported with its reason by the reader
                    raise ServerLost(failure.message) from failure


class BoxServers:
    """Starts servers in the Box."""

    def __init__(self, connection: BoxConnection) -> None:
        self._connection = connection

    @asynccontextmanager
    async def open(self, server: McpServer, target: McpEndpoint) -> AsyncIterator[BoxServerProcess]:
        """Starts a server, and ends its session with the context. Raises ServerLost."""
        status = await self._connection.wait_until_known(READY_SECONDS)
        if status.state != "ready":
            raise ServerLost(f"it runs in the sandbox, which is not available: {self._connection.unavailable_reason()}")
        session = _session(server)
        process: dict[str, Any] = {
            "process_id": server.name.replace("_", "-"),
            "command": target.command,
            "args": list(target.arguments),
            "environment": dict(target.environment),
            "memory_mb": server.memory_mb,
        }
        names = {"session_id": session.session_id}
        try:
            with suppress(ProviderFailed):  # what an earlier Host or connection has left
                await self._connection.call("box_session_delete", names)
            request = {"session": session.model_dump(), "process": process}
            await self._connection.call("box_process_start", request, START_SECONDS)
        except ProviderFailed as failure:
            raise ServerLost(f"it can't be started in the sandbox: {failure.message}") from failure
        try:
            yield BoxServerProcess(self._connection, session.session_id, process["process_id"])
        finally:
            with suppress(ProviderFailed):
                await self._connection.call("box_session_delete", names)


def _session(server: McpServer) -> SessionSpec:
    limits = PROFILES[PROFILE]
    digest = hashlib.sha256(server.server_id.encode()).hexdigest()[:SESSION_ID_CHARACTERS]
    return SessionSpec(
        session_id=f"mcp-{digest}",
        title=f"MCP server {server.name}",
        cpus=limits.cpus,
        memory_mb=max(limits.memory_mb, server.memory_mb),
        processes=limits.processes,
        network=server.network,
        persistent=True,
        mounts=list(server.mounts),
    )


def _end_reason(part: dict[str, Any]) -> str:
    if part.get("reason"):
        return f"its process was stopped: {part['reason']}"
    status = f"with status {part['exited']}" if part["exited"] is not None else "with its sandbox"
    last = f": {part['stderr']}" if part.get("stderr") else ""
    return f"its process ended {status}{last}"
