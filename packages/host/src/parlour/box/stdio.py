"""Runs the Box as a child of the Host: requests on standard input, answers on standard output, nothing listens."""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from pathlib import Path

from parlour.core.box.messages import BoxConfig
from parlour.version import VERSION
from parlour_sdk.wire import Peer, StdioTransport

from .backend import Backend
from .bubblewrap_backend import BubblewrapBackend, python_tools
from .server import BoxServer


def make_backend(config: BoxConfig) -> Backend:
    """Returns the backend that the configuration names."""
    hidden = tuple(Path(folder) for folder in config.hidden)
    wheels = Path(config.wheels) if config.wheels else None
    if wheels is not None:
        with contextlib.suppress(OSError):  # wheels are then not kept, which a skill that needs them says
            wheels.mkdir(mode=0o755, parents=True, exist_ok=True)
    tools = python_tools(_find_uv(), wheels)
    program = Path(config.bubblewrap) if config.bubblewrap else None
    return BubblewrapBackend(program, hidden, "advisory", tools, [Path(root) for root in config.mount_roots])


def _find_uv() -> Path | None:
    """Returns the program uv, on PATH, beside this Python or where `make setup` puts it; None if it is not here."""
    beside = [Path(sys.executable).with_name("uv"), Path(sys.prefix).parent / ".tools" / "bin" / "uv"]
    found = [shutil.which("uv"), *(str(path) for path in beside if os.access(path, os.X_OK))]
    return next((Path(os.path.realpath(path)) for path in found if path), None)


async def serve() -> None:
    """Serves until the Host closes the pipe or asks to stop."""
    server = BoxServer(make_backend, VERSION)
    # The descriptors are duplicated: what prints to standard output must not break the wire.
    read_fd, write_fd = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    peer = Peer(StdioTransport(read_fd, write_fd), server, name="host")
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    peer.start()
    closed, stopped = asyncio.ensure_future(peer.wait_closed()), asyncio.ensure_future(stopping.wait())
    await asyncio.wait({closed, stopped}, return_when=asyncio.FIRST_COMPLETED)
    for task in (closed, stopped):
        task.cancel()
    peer.close("the Box is stopping")
    await server.close()


def main() -> None:
    asyncio.run(serve())
