"""Serves a Host over HTTP until it is asked to stop."""

import asyncio
import contextlib
import importlib
import logging
import secrets
import signal
import socket
from collections.abc import Callable

from parlour.core.access.users import UserAccounts
from parlour.core.addresses import authority
from parlour.core.redaction import Redactor

from .bootstrap import open_host
from .host import Host, HostExtensions
from .process_tuning import resume_garbage_collection
from .service_manager import ServiceManager
from .settings import HostSettings

logger = logging.getLogger(__name__)


ANY_ADDRESS = ("", "0.0.0.0", "::")
"""Addresses that stand for all of this machine."""


class PortInUse(Exception):
    """Raised when the address can't be listened on."""

    code = "port_taken"


async def serve(
    settings: HostSettings, announce: Callable[[str, str], None], additions: HostExtensions, redactor: Redactor
) -> None:
    """Serves the Host. It listens first, so that a port in use is noticed before anything is changed.

    `announce` is called with the Host's address and a notice when it is being served.
    """
    # `plugin install` may send SIGHUP before there is a handler for it: the start reads the folder anyway.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with contextlib.ExitStack() as listeners:
        listener = listeners.enter_context(contextlib.closing(_listen(settings.http.host, settings.http.port)))
        services = _listen_for_services(settings, listeners)
        async with open_host(settings, additions, redactor) as host:
            stopping = asyncio.Event()
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, stopping.set)
            refreshes = _reload_on_sighup(host)
            starting = asyncio.create_task(host.start())
            starting.add_done_callback(lambda task: _on_start_finished(task, stopping))
            web = await asyncio.to_thread(importlib.import_module, ".web.server", __package__)
            token = await _setup_token(host)
            server = web.server(settings, host, token)
            serving = asyncio.create_task(server.serve([listener]))
            service_server = web.service_server(settings, host) if services is not None else None
            serving_services = asyncio.create_task(service_server.serve([services])) if service_server else None
            address = authority(settings.http.host, listener.getsockname()[1])
            host.core.gateway_tokens.address = _gateway_address(settings, listener.getsockname()[1])
            host.core.gateway_tokens.service_address = settings.doors.services_address
            service_manager = ServiceManager()
            reporting = asyncio.create_task(service_manager.serve(lambda: not host.pending_start_steps()))
            announce(f"http://{address}{settings.http.prefix}", _notice(settings, host, token))
            stopped = asyncio.create_task(stopping.wait())
            await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            starting.cancel()
            logger.info("the Host is stopping")
            service_manager.report_stopping()
            await host.stop()
            server.should_exit = True
            await serving
            if service_server is not None and serving_services is not None:
                service_server.should_exit = True
                await serving_services
            refreshes.cancel()
            reporting.cancel()
            if starting.done() and not starting.cancelled() and starting.exception() is not None:
                raise starting.exception() or RuntimeError


async def _setup_token(host: Host) -> str:
    """Creates the set-up token for the first owner; returns an empty string if there is an account already."""
    if await UserAccounts(host.journal, host.ids, host.clock).has_any():
        return ""
    return secrets.token_urlsafe(12)


def _gateway_address(settings: HostSettings, port: int) -> str:
    """Returns the address of the MCP server of runs, as programs on this machine reach it."""
    host = "127.0.0.1" if settings.http.host in ANY_ADDRESS else settings.http.host
    return f"http://{authority(host, port)}{settings.http.prefix}/gateway/mcp"


def _notice(settings: HostSettings, host: Host, token: str) -> str:
    """Returns the lines that are printed below the address."""
    lines = [host.notice]
    if settings.http.public_address:
        lines.append(f"from outside: {settings.http.public_address}")
    if settings.doors.services_address:
        lines.append(f"tools for services elsewhere: {settings.doors.services_address}")
    if token:
        lines.append(f"set-up token for the first owner: {token}")
    return "\n".join(filter(None, lines))


def _on_start_finished(task: "asyncio.Task[None]", stopping: asyncio.Event) -> None:
    """Stops a Host that could not start, and tunes the garbage collector of one that did."""
    if task.cancelled():
        return
    if task.exception() is not None:
        stopping.set()
        return
    resume_garbage_collection()


def _reload_on_sighup(host: Host) -> "asyncio.Task[None]":
    """Rereads the installed plugins and the keys of the secrets on SIGHUP, which commands send after a change."""
    reload_requested = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload_requested.set)

    async def refresh() -> None:
        try:
            await host.plugins.refresh()
        except Exception:
            logger.exception("the installed plugins could not be reread")

    async def listen() -> None:
        async with asyncio.TaskGroup() as refreshes:  # concurrently: a plugin that is slow to start delays no other
            while True:
                await reload_requested.wait()
                reload_requested.clear()
                host.secret_rotation_requested.set()
                refreshes.create_task(refresh())

    return asyncio.create_task(listen())


def _listen_for_services(settings: HostSettings, listeners: contextlib.ExitStack) -> socket.socket | None:
    """Listens for services elsewhere; returns None if their gateway is off."""
    doors = settings.doors
    if not doors.services_port:
        return None
    return listeners.enter_context(contextlib.closing(_listen(doors.services_host, doors.services_port)))


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        reason = error.strerror or str(error)
        remedy = "Stop what uses it, or choose another with --host and --port, or doors.services_port."
        raise PortInUse(f"can't listen on {authority(host, port)}: {reason}. {remedy}") from error
    return listener
