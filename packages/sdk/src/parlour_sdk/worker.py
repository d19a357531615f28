"""The process that serves one plugin: `python -m parlour_sdk.worker PLUGIN`, a folder or one .py file.

It uses standard input and output for the wire, so output of the plugin goes to standard error. It ends with its Host:
at the end of the input, and by the parent-death signal in case its event loop hangs. With `--connect` it uses a
WebSocket instead and ends with that connection.
"""

import gc

if __name__ == "__main__":
    gc.disable()  # until the plugin is loaded: objects created before that stay, so scanning them only costs time

import argparse
import asyncio
import ctypes
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, Final, NoReturn

from . import __version__
from .plugin import LoadedPlugin, PluginInvalid, load, read_plugin
from .protocol.base import PROTOCOL_VERSION
from .protocol.handshake import Hello, Welcome
from .results import Result
from .service import PluginService
from .service.runs import envelope
from .wire import ConnectionClosed, Peer, StdioTransport, Transport, WireError, WireLimits

logger = logging.getLogger("parlour.worker")

CANNOT_SERVE_STATUS = 3
"""Exit status of a plugin that is faulty or that the Host refuses; the reason is the last line of its log."""
TOKEN_VARIABLE = "PARLOUR_TOKEN"
"""Environment variable with the token that proves a plugin's identity if its process was not started by the Host."""
GC_THRESHOLDS: Final = (5_000, 20, 10)
"""New objects before a garbage collection, and collections of one generation before one of the next. A run leaves few
reference cycles behind, and Python's own thresholds would cost a tenth of its time.
"""
CLOSE_SECONDS = 2.0
"""Seconds that the plugin's `close` may take before it is abandoned."""
TRUSTED_HOST_LIMITS: Final = WireLimits(
    max_depth=sys.maxsize, max_elements=sys.maxsize, frames_per_second=inf, bytes_per_second=inf
)
"""Limits without checks of received frames: the Host keeps its own limits, or the plugin asked for the data."""

Connect = Callable[[WireLimits], Awaitable[Transport]]


class CannotServe(Exception):
    """Raised when a plugin can't be served; the message says why."""


def _envelope(run_id: str, sequence: int, result: Result) -> dict[str, Any]:
    return envelope(run_id, sequence, result)


async def serve(plugin: LoadedPlugin, connect: Connect, token: str | None = None) -> None:
    limits = replace(TRUSTED_HOST_LIMITS, streams=plugin.manifest.spec.limits.max_runs)
    # `_envelope` is looked up for each result, so that a test plugin can replace it and send something else.
    service = PluginService(plugin, lambda *numbered: _envelope(*numbered))
    peer = service.peer = Peer(await connect(limits), service, limits)
    peer.start()
    try:
        await _greet(peer, plugin.identity, token)
        await _serve_until_end(peer, service)
    finally:
        peer.close("the plugin stops")


async def _greet(peer: Peer, identity: str, token: str | None) -> None:
    hello = Hello(protocol=PROTOCOL_VERSION, sdk=__version__, plugin=identity, token=token)
    try:
        welcome = Welcome.model_validate(await peer.call("hello", hello.model_dump(exclude_none=True)))
    except ConnectionClosed:
        raise
    except WireError as error:
        raise CannotServe(f"the Host refused this plugin: {error.message}") from error
    if welcome.protocol != PROTOCOL_VERSION:
        older_side = "the Host" if welcome.protocol < PROTOCOL_VERSION else "parlour-sdk in the plugin's environment"
        raise CannotServe(
            f"the Host speaks protocol {welcome.protocol} and this SDK {PROTOCOL_VERSION}; update {older_side}"
        )


async def _serve_until_end(peer: Peer, service: PluginService) -> None:
    """Serves until the Host sends `shutdown` or disconnects, which may happen before the plugin is initialized."""
    end_task = asyncio.ensure_future(_wait_for_end(peer, service))
    beginning = asyncio.ensure_future(_initialize(service))
    await asyncio.wait({end_task, beginning}, return_when=asyncio.FIRST_COMPLETED)
    if beginning.done():
        beginning.result()
    else:
        beginning.cancel()
    await end_task
    await _close(service)


async def _initialize(service: PluginService) -> None:
    try:
        await service.initialize()
    except Exception as error:
        logger.exception("the plugin's initialize() failed")
        raise CannotServe(f"the plugin's initialize() failed with {type(error).__name__}: {error}") from error


async def _wait_for_end(peer: Peer, service: PluginService) -> None:
    waits = [asyncio.ensure_future(each) for each in (peer.wait_closed(), service.stopping.wait())]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for each in waits:
        each.cancel()


async def _close(service: PluginService) -> None:
    """Calls the plugin's `close`, for at most CLOSE_SECONDS."""
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await service.close()
    except TimeoutError:
        logger.warning("the plugin's close() took longer than %g s and was abandoned", CLOSE_SECONDS)
    except Exception:
        logger.exception("the plugin's close() failed")


def main() -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    arguments = _arguments()
    token = os.environ.pop(TOKEN_VARIABLE, None)  # hidden from the plugin's code and its child processes
    if arguments.connect is None:
        _die_with_parent()
        connect = _on_pipes(*_take_standard_streams())
    else:
        connect = _on_websocket(arguments.connect, token)
    plugin = _load_plugin(arguments.plugin)
    gc.freeze()
    gc.enable()
    gc.set_threshold(*GC_THRESHOLDS)
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(serve(plugin, connect, token))
    except CannotServe as error:
        _give_up(str(error))
    except WireError as error:
        _give_up(error.message)


def _loop_factory() -> "Callable[[], asyncio.AbstractEventLoop] | None":
    """Returns uvloop's loop factory if it is installed, as it is in the Host's environment; otherwise None."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m parlour_sdk.worker", description="Serves one plugin to a Host.")
    parser.add_argument("plugin", type=Path, metavar="PLUGIN", help="the plugin's folder, or its one .py file")
    parser.add_argument("--connect", metavar="URL", help="the Host's WebSocket; standard input and output without it")
    return parser.parse_args()


def _load_plugin(path: Path) -> LoadedPlugin:
    try:
        plugin = load(read_plugin(path))
    except PluginInvalid as error:
        if error.__cause__ is not None:
            logger.info("cause of the error:", exc_info=error.__cause__)
        _give_up(str(error))
    for warning in plugin.warnings:
        logger.warning("%s", warning)
    return plugin


def _give_up(reason: str) -> NoReturn:
    logger.error("%s", reason)
    sys.exit(CANNOT_SERVE_STATUS)


def _on_pipes(read_fd: int, write_fd: int) -> Connect:
    async def connect(limits: WireLimits) -> Transport:
        return StdioTransport(read_fd, write_fd, limits)

    return connect


def _on_websocket(url: str, token: str | None) -> Connect:
    async def connect(limits: WireLimits) -> Transport:
        from .wire.websocket import connect

        return await connect(url, token, limits)

    return connect


def _take_standard_streams() -> tuple[int, int]:
    """Reserves standard input and output for the wire: reads of the plugin find nothing, its output goes to the log."""
    read_fd, write_fd = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return read_fd, write_fd


def _die_with_parent() -> None:
    if sys.platform != "linux":
        return
    parent = os.getppid()
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:  # the parent died before the signal was set
        os._exit(1)


if __name__ == "__main__":
    main()
