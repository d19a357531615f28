"""Manages the process that talks to MCP servers: it is started when first needed, and again after it exited."""

import asyncio
import base64
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import asdict
from importlib.util import find_spec
from typing import Any
from uuid import uuid4

from parlour.core.tools.mcp import (
    McpListing,
    McpPrompt,
    McpPromptArgument,
    McpRequest,
    McpResource,
    McpServerIdentity,
    McpTool,
)
from parlour.network.proxies import proxy_environment
from parlour_sdk.protocol.tools import ToolOutcome
from parlour_sdk.wire import ConnectionClosed, Peer, StdioTransport, WireError

from .endpoint import McpEndpoint
from .errors import LOST_ERROR_CODE, ServerLost
from .sandboxed import ServerProcess

MODULE = "parlour.providers.tools.mcp.worker"
INHERITED_VARIABLES = (
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "PYTHONPATH",
    "SHELL",
    "TMPDIR",
    "USER",
    "VIRTUAL_ENV",
)
NOT_INSTALLED = "MCP needs a part of Parlour that is not installed; install it with: pip install 'parlour[mcp]'"
EXIT_TIMEOUT_SECONDS = 4
"""Seconds for the process to exit; the servers it started may take three of them."""


class WorkerProcess:
    """Client of the worker process."""

    def __init__(self) -> None:
        self._starting = asyncio.Lock()
        self._peer: Peer | None = None
        self._process: asyncio.subprocess.Process | None = None

    async def connect(
        self, session: str, target: McpEndpoint, start: float, refresh: float, process: ServerProcess | None = None
    ) -> AsyncGenerator[tuple[McpServerIdentity, McpListing], None]:
        """Yields identity and listing of a server, now and after every change. Raises ServerLost.

        The lines of a server in the Box are relayed from and to its process.
        """
        request = {"session": session, "target": asdict(target), "start": start, "refresh": refresh}
        reading: asyncio.Task[None] | None = None
        try:
            async with aclosing(self._stream("connect", request)) as updates:
                async for update in updates:
                    if process is not None and "line" in update:
                        await process.write(update["line"].encode() + b"\n")
                    elif process is not None and "relays" in update:
                        reading = asyncio.create_task(self._relay(session, process))
                    else:
                        yield McpServerIdentity(**update["identity"]), _listing(update["listing"])
        finally:
            if reading is not None:
                reading.cancel()
                await asyncio.wait([reading])

    async def _relay(self, session: str, process: ServerProcess) -> None:
        """Passes on what a server writes, and why it ended."""
        peer = await self._connect()
        with suppress(WireError):  # the worker has ended, which its stream reports
            try:
                async for data in process.read():
                    encoded = base64.b64encode(data).decode()
                    await peer.call("feed", {"session": session, "data": encoded})
            except ServerLost as lost:
                await peer.call("feed", {"session": session, "ended": str(lost)})

    async def ask(self, session: str, request: McpRequest) -> ToolOutcome:
        """Sends a request to a connected server. Raises ServerLost."""
        async with aclosing(self._stream("ask", {"session": session, "wanted": asdict(request)})) as pieces:
            return ToolOutcome.model_validate_json("".join([piece async for piece in pieces]))

    async def close(self) -> None:
        async with self._starting:
            peer, process = self._peer, self._process
            self._peer = self._process = None
            if peer is not None and process is not None:
                peer.close()
                await _wait_for_exit(process)

    async def _stream(self, action: str, request: dict[str, Any]) -> AsyncGenerator[Any, None]:
        stream = (await self._connect()).stream(action, request)
        try:
            async with aclosing(stream):
                async for part in stream:
                    yield part
        except ConnectionClosed as error:
            raise ServerLost("the process that talks to MCP servers ended") from error
        except WireError as error:
            unsent = isinstance(error.data, dict) and error.data.get("unsent") is True
            message = error.message if error.code == LOST_ERROR_CODE else f"{error.code}: {error.message}"
            raise ServerLost(message, unsent) from error

    async def _connect(self) -> Peer:
        async with self._starting:
            if self._peer is None or self._peer.closed:
                if self._process is not None:
                    await _wait_for_exit(self._process)
                self._peer = await self._start()
            return self._peer

    async def _start(self) -> Peer:
        if find_spec("mcp") is None:
            raise ServerLost(NOT_INSTALLED)
        its_input, ours_out = os.pipe()
        ours_in, its_output = os.pipe()
        try:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                MODULE,
                stdin=its_input,
                stdout=its_output,
                env=_environment(),
                start_new_session=True,
            )
        except BaseException:
            os.close(ours_in)
            os.close(ours_out)
            raise
        finally:
            os.close(its_input)
            os.close(its_output)
        peer = Peer(StdioTransport(ours_in, ours_out), _NoHostCalls(), name="MCP")
        peer.start()
        return peer


class _NoHostCalls:
    """Rejects every call, because the worker never calls its Host."""

    def dispatch(self, action: str, data: Any) -> AsyncGenerator[Any, None]:
        raise WireError("not_supported", "there is nothing to ask for")


def new_session() -> str:
    return uuid4().hex


def _listing(data: dict[str, Any]) -> McpListing:
    return McpListing(
        tuple(McpTool(**each) for each in data["tools"]),
        tuple(McpResource(**each) for each in data["resources"]),
        tuple(map(_prompt, data["prompts"])),
        tuple(data["left_out"]),
    )


def _prompt(data: dict[str, Any]) -> McpPrompt:
    arguments = tuple(McpPromptArgument(**each) for each in data["arguments"])
    return McpPrompt(data["name"], data["description"], arguments)


async def _wait_for_exit(process: asyncio.subprocess.Process) -> None:
    """Waits for the exit of the process, or kills it.

    It exits by itself when its input closes, and ends its servers.
    """
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), EXIT_TIMEOUT_SECONDS)
        return
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def _environment() -> dict[str, str]:
    """Returns the variables that the process inherits, with the proxies for servers over HTTP."""
    inherited = {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}
    return {**inherited, **proxy_environment()}
