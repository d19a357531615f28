"""Serves a Host over HTTP until it is told to stop."""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn

from .app import VERSION
from .config import Settings
from .core.access.keys import ApiKeys
from .host import Additions, Host, open_host
from .http import application
from .http.agents import endpoints as agents
from .http.auth import Authenticator
from .http.chat import endpoints as chat
from .http.conversations import endpoints as conversations
from .http.events import endpoints as events
from .http.events.door import EventDoor, EventInjection, Results
from .http.health import endpoints as health
from .http.paging import Pages
from .http.plugins import endpoints as plugins
from .http.plugins.endpoints import PluginView
from .http.runners import endpoints as runners
from .http.runs import endpoints as runs

logger = logging.getLogger(__name__)

CLOSE_SECONDS = 1
"""How long open connections may take to end after the Host has stopped."""


class PortTaken(Exception):
    """The address can't be listened on."""

    code = "port_taken"


class Server(uvicorn.Server):
    """Signals are the Host's: it has more to end than connections."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(settings: Settings, announce: Callable[[str], None], additions: Additions) -> None:
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
            server = Server(_config(settings, host))
            serving = asyncio.create_task(server.serve([listener]))
            address = f"http://{settings.http.host}:{listener.getsockname()[1]}"
            starting = asyncio.create_task(host.start())
            starting.add_done_callback(lambda task: _started(task, stopping))
            announce(address)
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


def _started(task: "asyncio.Task[None]", stopping: asyncio.Event) -> None:
    """A Host that can't start does not linger half ready."""
    if not task.cancelled() and task.exception() is not None:
        stopping.set()


def _refresh_on_hangup(host: Host) -> "asyncio.Task[None]":
    """`plugin install` sends SIGHUP: a running Host picks up what is installed at once."""
    wanted = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, wanted.set)

    async def refresh() -> None:
        while True:
            await wanted.wait()
            wanted.clear()
            await host.runtime.refresh()

    return asyncio.create_task(refresh())


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
        raise PortTaken(
            f"can't listen on {host}:{port}: {reason}. Stop what uses it, or choose another with --host and --port."
        ) from error
    return listener


def _config(settings: Settings, host: Host) -> uvicorn.Config:
    return uvicorn.Config(
        _application(settings, host),
        http="httptools",
        ws="websockets-sansio",
        ws_max_size=settings.http.chat_frame_bytes,
        ws_per_message_deflate=False,
        lifespan="off",
        proxy_headers=False,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=CLOSE_SECONDS,
    )


def _application(settings: Settings, host: Host) -> Callable[..., object]:
    core, journal, ids, clock = host.core, host.journal, host.ids, host.clock
    authenticator = Authenticator(ApiKeys(journal, ids, clock))
    pages = Pages(journal, host.cursors)

    def plugin_status(plugin_id: str) -> str:
        supervisor = host.runtime.supervisors().get(plugin_id)
        return supervisor.status if supervisor else "stopped"

    def plugin_views() -> list[PluginView]:
        return [
            PluginView(plugin_id, supervisor.plugin.version, supervisor.status, supervisor.reason)
            for plugin_id, supervisor in sorted(host.runtime.supervisors().items())
        ]

    door = EventDoor(
        EventInjection(core.gateway, core.agents, core.routes, ids, clock), Results(journal, core.outcomes)
    )
    domains = [
        events.router(door, pages),
        chat.router(
            journal,
            core.agents,
            core.gateway,
            core.conversations,
            core.feed,
            core.sessions,
            authenticator,
            pages,
            ids,
            clock,
        ),
        runs.router(journal, core.sessions, pages, clock),
        agents.router(core.agents, core.registry, host.cursors, ids),
        runners.router(core.registry, plugin_status),
        plugins.router(plugin_views),
        conversations.router(journal, pages),
    ]
    return application.build(
        VERSION, authenticator, health.router(lambda: host.waiting_for), domains, door, settings.http.body_bytes
    )
