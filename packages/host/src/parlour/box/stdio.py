"""Runs the Box as a child of the Host: requests on standard input, answers on standard output, nothing listens."""

import asyncio
import os
import signal

from parlour.version import VERSION
from parlour_sdk.wire import Peer, StdioTransport

from .available_backends import make_backend
from .private_mounts import PrivateMounts
from .server import BoxServer


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
    PrivateMounts.enter()
    asyncio.run(serve())
