"""Opens the connection to a Box: to a process that is started beside the Host, or to one elsewhere."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from parlour.core.box.messages import HEARTBEAT_SECONDS
from parlour.isolation.child_process import ChildProcess
from parlour_sdk.wire import Peer, StdioTransport, WireError

STOP_SECONDS: Final = 5.0
OPEN_SECONDS: Final = 10.0
MISSED_HEARTBEATS: Final = 2
PATH: Final = "/box"
FORWARDED_VARIABLES: Final = (
    *("PATH", "LANG", "LC_ALL", "TZ", "HOME", "TMPDIR", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"),
    *("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "CONTAINER_HOST", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF"),
)
"""Variables of the Host that the Box gets: those by which it and the engines of containers find their files."""

OpenBox = Callable[[], AbstractAsyncContextManager[Peer]]
"""Opens a connection, which ends with the context. Raises OSError or WireError."""


class _NoRequests:
    """Refuses requests: a Box makes none."""

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        raise WireError("not_supported", "a Host serves no requests of its Box")


@asynccontextmanager
async def start_box() -> AsyncIterator[Peer]:
    """Starts the Box beside the Host. Nothing listens."""
    process, peer = _spawn()
    try:
        peer.start()
        yield peer
    finally:
        peer.close("the Host ends this Box")
        await _end(process)


def box_at(url: str, read_token: Callable[[], str]) -> OpenBox:
    """Returns what connects to a Box elsewhere."""

    @asynccontextmanager
    async def connect_box() -> AsyncIterator[Peer]:
        from parlour_sdk.wire.limits import DEFAULT_LIMITS
        from parlour_sdk.wire.websocket import connect

        patience = HEARTBEAT_SECONDS * MISSED_HEARTBEATS
        address = url.rstrip("/") + PATH
        transport = await connect(address, read_token(), DEFAULT_LIMITS, patience=patience, timeout=OPEN_SECONDS)
        peer = Peer(transport, _NoRequests(), name="box")
        try:
            peer.start()
            yield peer
        finally:
            await peer.aclose("the Host has closed the connection")

    return connect_box


def _spawn() -> tuple[ChildProcess, Peer]:
    child_read, write_fd = os.pipe()
    read_fd, child_write = os.pipe()
    variables = {name: os.environ[name] for name in FORWARDED_VARIABLES if name in os.environ}
    try:
        process = ChildProcess(
            [sys.executable, "-P", "-m", "parlour.box"], Path("/"), variables, (child_read, child_write, 2)
        )
    except BaseException:
        os.close(write_fd)
        os.close(read_fd)
        raise
    finally:
        os.close(child_read)
        os.close(child_write)
    return process, Peer(StdioTransport(read_fd, write_fd), _NoRequests(), name="box")


async def _end(process: ChildProcess) -> None:
    """Waits until the process has removed its sandboxes; kills it if that takes too long."""
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, 9)
        await process.wait()
