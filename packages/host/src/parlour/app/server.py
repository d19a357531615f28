"""Serves a Host over HTTP until it is told to stop."""

import asyncio
import contextlib
import gc
import importlib
import logging
import secrets
import signal
import socket
from collections.abc import Callable

from parlour.core.access.users import Users
from parlour.core.addresses import authority

from .bootstrap import open_host
from .host import Additions, Host
from .settings import Settings

logger = logging.getLogger(__name__)


class PortTaken(Exception):
    """The address can't be listened on."""

    code = "port_taken"


async def serve(settings: Settings, announce: Callable[[str, str], None], additions: Additions) -> None:
    """Listens first, so that a taken port is known before anything is touched."""
    # an install before we listen for it: the start reads the folder anyway
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    listener = _listen(settings)
    with contextlib.closing(listener):
        async with open_host(settings, additions) as host:
            stopping = asyncio.Event()
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, stopping.set)
            refreshes = _refresh_on_hangup(host)
            starting = asyncio.create_task(host.start())
            starting.add_done_callback(lambda task: _started(task, stopping))
            web = await asyncio.to_thread(importlib.import_module, ".web.server", __package__)
            token = await _setup_token(host)
            server = web.server(settings, host, token)
            serving = asyncio.create_task(server.serve([listener]))
            address = authority(settings.http.host, listener.getsockname()[1])
            announce(f"http://{address}{settings.http.prefix}", _notice(settings, host, token))
            stopped = asyncio.create_task(stopping.wait())
            await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            starting.cancel()
            logger.info("the Host stops")
            await host.stop()
            server.should_exit = True
            await serving
            refreshes.cancel()
            if starting.done() and not starting.cancelled() and starting.exception() is not None:
                raise starting.exception() or RuntimeError


async def _setup_token(host: Host) -> str:
    """Makes the token for the first owner; nothing where there is an owner already."""
    if await Users(host.journal, host.ids, host.clock).any():
        return ""
    return secrets.token_urlsafe(12)


def _notice(settings: Settings, host: Host, token: str) -> str:
    """Returns what is printed below the address."""
    lines = [host.notice]
    if settings.http.public_address:
        lines.append(f"from outside: {settings.http.public_address}")
    if token:
        lines.append(f"set-up token for the first owner: {token}")
    return "\n".join(filter(None, lines))


def _started(task: "asyncio.Task[None]", stopping: asyncio.Event) -> None:
    """A Host that can't start does not linger half ready."""
    if task.cancelled():
        return
    if task.exception() is not None:
        stopping.set()
        return
    # What is there now stays, and a message leaves few cycles behind: looking for them at every turn costs a tenth.
    # Each look takes as long as what is new since the last one, so ten times as much would stop everything for 40 ms.
    # The cycles that outlive a few looks are looked for too: under load they are some kilobytes of every message.
    # The start leaves too few behind to look for them: they stay as well.
    gc.freeze()
    gc.enable()
    gc.set_threshold(5_000, 20, 10)


def _refresh_on_hangup(host: Host) -> "asyncio.Task[None]":
    """`plugin install` sends SIGHUP: a running Host picks up what is installed at once."""
    wanted = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, wanted.set)

    async def refresh() -> None:
        try:
            await host.plugins.refresh()
        except Exception:
            logger.exception("the installed plugins could not be read again")

    async def listen() -> None:
        async with asyncio.TaskGroup() as refreshes:  # side by side: a plugin that is slow to start holds up no other
            while True:
                await wanted.wait()
                wanted.clear()
                refreshes.create_task(refresh())

    return asyncio.create_task(listen())


def _listen(settings: Settings) -> socket.socket:
    host, port = settings.http.host, settings.http.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        reason = error.strerror or str(error)
        remedy = "Stop what uses it, or choose another with --host and --port."
        raise PortTaken(f"can't listen on {authority(host, port)}: {reason}. {remedy}") from error
    return listener
