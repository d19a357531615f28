"""Builds the web server for the HTTP interface and the page."""

import contextlib
import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import uvicorn

from parlour.app.host import Host
from parlour.app.process_tuning import connections_within_file_limit
from parlour.app.settings import HostSettings, HttpSettings
from parlour.http.client_address import TrustedProxies
from parlour.http.errors import ErrorResponses
from parlour.http.page.static_server import PageServer
from parlour.http.proxy_requests import ProxyMiddleware

from .bounded_protocol import BoundedProtocol
from .connection_limits import ConnectionLimiter, ConnectionQuota, RefusalReason
from .host_app import build_host_app
from .sockets import SocketProtocol

logger = logging.getLogger(__name__)

SHUTDOWN_TIMEOUT_SECONDS = 1
"""Seconds that open connections may take to end after the Host has stopped."""
PAGE = Path(__file__).parents[2] / "page"
"""Folder of the built page."""


class Server(uvicorn.Server):
    """Web server that installs no signal handlers: the Host handles signals, since it has more to stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def server(settings: HostSettings, host: Host, setup_token: str = "") -> Server:
    """Builds the web server of a Host."""

    def count(reason: RefusalReason) -> None:
        host.metrics.count("parlour_refused_connections_total", ("reason", reason))

    http = settings.http
    proxies = TrustedProxies(http.trusted_proxies)
    limits = ConnectionLimiter(_connection_quota(http), proxies, count)
    app = build_host_app(settings, host, setup_token, limits, PageServer(PAGE, http.prefix)).serve
    if host.cluster is not None:
        from parlour.http.owner_relay import OwnerRelay

        def count_relayed(result: str) -> None:
            host.metrics.count("parlour_relayed_requests_total", ("result", result))

        owners = host.cluster.request_owner
        app = OwnerRelay(app, owners, ErrorResponses(host.redactor), http.body_bytes, count_relayed)
        host.cluster.closing.append(app.close)
    if proxies or http.prefix:
        responses, refused = ErrorResponses(host.redactor), partial(count, "address")
        app = ProxyMiddleware(app, responses, proxies, http.prefix, http.connections_per_address, refused)
    return Server(_config(http, app, limits))


def service_server(settings: HostSettings, host: Host) -> Server:
    """Builds the web server of the gateway for services elsewhere. It serves nothing else."""
    from parlour.http.gateway.service_app import ServiceGateway

    def count(reason: RefusalReason) -> None:
        host.metrics.count("parlour_refused_connections_total", ("reason", reason))

    limits = ConnectionLimiter(_connection_quota(settings.http), TrustedProxies(settings.http.trusted_proxies), count)
    return Server(_config(settings.http, ServiceGateway(host.core.gateway_tokens, host.core.gate), limits))


def _config(http: HttpSettings, app: Any, limits: ConnectionLimiter) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=cast(Any, partial(BoundedProtocol, limits)),
        ws=SocketProtocol,
        ws_max_size=http.chat_frame_bytes,
        ws_per_message_deflate=False,
        lifespan="off",
        proxy_headers=False,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=SHUTDOWN_TIMEOUT_SECONDS,
    )


def _connection_quota(http: HttpSettings) -> ConnectionQuota:
    total = connections_within_file_limit(http.connections)
    if total < http.connections:
        logger.info("connections are limited to %d by the limit of open files", total)
    return ConnectionQuota(total, http.connections_per_address, http.head_seconds, http.silent_seconds)
