"""Checks whether the servers that a bot connects to can be reached, and how far their clocks are from this one.

No credentials are sent: any answer shows that a server can be reached.
"""

import asyncio
import ssl
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any
from urllib.parse import urlsplit

from parlour.core.config.form_validation import is_visible
from parlour.core.platforms.manifest import AdapterManifest, ServerDeclaration
from parlour.core.platforms.port import AdapterStopped
from parlour.network.http_session import ProxyFailed, ProxySession, connection_error_reason
from parlour.network.proxies import InvalidProxy, ProxySettings
from parlour_sdk.values import dataclass

from .proxy_fields import configured_proxies

ANSWER_SECONDS = 5.0
_HTTP_SCHEMES = {"http": "http", "https": "https", "ws": "http", "wss": "https"}


@dataclass(frozen=True, slots=True)
class PlatformServer:
    """A server that a bot connects to."""

    field: str
    """The item of the bot's form with its address."""
    address: str
    """An address of HTTP or WebSockets, or `host:port`."""
    is_tls: bool = False
    """True if a connection to `host:port` begins with TLS."""

    @property
    def name(self) -> str:
        """The server without a path, user or query, which may contain secrets."""
        if "://" not in self.address:
            return self.address
        parts = urlsplit(self.address)
        return f"{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}"


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """The result of a probe."""

    problem: str = ""
    """The reason why the server can't be reached; empty if it can."""
    clock_ahead_seconds: float | None = None
    """How far this machine's clock is ahead of the server's; None if the server does not show its time."""


def configured_servers(manifest: AdapterManifest, config: Mapping[str, Any]) -> Iterator[PlatformServer]:
    """Yields the servers of a bot with this configuration."""
    form = {item.name: item for item in manifest.config}
    for declared in manifest.servers:
        item = form.get(declared.field)
        if item is not None and is_visible(item, dict(config)) and (server := _server(declared, config)):
            yield server


def _server(declared: ServerDeclaration, config: Mapping[str, Any]) -> PlatformServer | None:
    given = str(config.get(declared.field) or "").strip()
    if not declared.ports:
        address = given or declared.defaults.get(str(config.get(declared.depends_on) or ""), "")
        return PlatformServer(declared.field, address) if address else None
    security = str(config.get(declared.security_field) or "tls")
    port = config.get(declared.port_field) or declared.ports.get(security)
    return PlatformServer(declared.field, f"{given}:{port}", security == "tls") if given and port else None


async def probe(server: PlatformServer, config: Mapping[str, Any]) -> ServerAnswer:
    """Connects to a server as the bot would, with its proxy, and without its credentials."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            if "://" in server.address:
                return await _probe_http(server.address, configured_proxies(config))
            return await _probe_port(server)
    except TimeoutError:
        return ServerAnswer("it did not answer in time")
    except (InvalidProxy, AdapterStopped, ProxyFailed) as error:
        return ServerAnswer(str(error))
    except (OSError, ValueError) as error:
        return ServerAnswer(connection_error_reason(error))


async def _probe_port(server: PlatformServer) -> ServerAnswer:
    host, _, port = server.address.rpartition(":")
    context = ssl.create_default_context() if server.is_tls else None
    _, writer = await asyncio.open_connection(host, int(port), ssl=context)
    writer.close()
    return ServerAnswer()


async def _probe_http(address: str, proxies: ProxySettings) -> ServerAnswer:
    from aiohttp import ClientError

    scheme, _, rest = address.partition("://")
    if scheme not in _HTTP_SCHEMES:
        return ServerAnswer("its address can't be used")
    session = ProxySession(proxies)
    try:
        asked_at = time()
        async with session.request("HEAD", f"{_HTTP_SCHEMES[scheme]}://{rest}", allow_redirects=False) as response:
            return ServerAnswer(clock_ahead_seconds=_clock_ahead(response.headers.get("Date", ""), asked_at, time()))
    except ClientError as error:
        return ServerAnswer(connection_error_reason(error))
    finally:
        await session.close()


def _clock_ahead(date: str, asked_at: float, answered_at: float) -> float | None:
    """Compares the time of an answer with the interval in which it was made. The header has whole seconds."""
    try:
        shown = parsedate_to_datetime(date).timestamp()
    except ValueError:
        return None
    if asked_at > shown + 1:
        return asked_at - shown - 1
    return min(0.0, answered_at - shown)
