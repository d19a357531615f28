"""Builds the web server for the HTTP interface and the page."""

import contextlib
import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import uvicorn

from parlour.app.file_limit import connections_within_file_limit
from parlour.app.host import Host
from parlour.app.settings import HttpSettings, Settings
from parlour.http.client_address import TrustedProxies
from parlour.http.limits import Application
from parlour.http.page.static_server import PageServing
from parlour.http.proxy_requests import ProxyRequests

from .bounded_protocol import BoundedProtocol
from .connection_limits import Allowance, ConnectionLimits, Reason
from .interface import interface
from .sockets import SocketProtocol

logger = logging.getLogger(__name__)

CLOSE_SECONDS = 1
"""Seconds that open connections may take to end after the Host has stopped."""
PAGE = Path(__file__).parents[2] / "page"
"""Folder of the built page."""


class Server(uvicorn.Server):
    """Web server that installs no signal handlers: the Host handles signals, since it has more to stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def server(settings: Settings, host: Host, setup_token: str = "") -> Server:
    """Builds the web server of a Host."""

    def count(reason: Reason) -> None:
        host.measurements.count("parlour_refused_connections_total", ("reason", reason))

    http = settings.http
    proxies = TrustedProxies(http.trusted_proxies)
    limits = ConnectionLimits(_allowance(http), proxies, count)
    page = PageServing(interface(settings, host, setup_token, limits).serve, PAGE, http.prefix)
    app: Application = page
    if proxies or http.prefix:
        app = ProxyRequests(page, proxies, http.prefix, http.connections_per_address, partial(count, "address"))
    config = uvicorn.Config(
        app,
        http=cast(Any, partial(BoundedProtocol, limits)),
        ws=SocketProtocol,
        ws_max_size=http.chat_frame_bytes,
        ws_per_message_deflate=False,
        lifespan="off",
        proxy_headers=False,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=CLOSE_SECONDS,
    )
    return Server(config)


def _allowance(http: HttpSettings) -> Allowance:
    total = connections_within_file_limit(http.connections)
    if total < http.connections:
        logger.info("connections are limited to %d by the limit of open files", total)
    return Allowance(total, http.connections_per_address, http.head_seconds, http.silent_seconds)
