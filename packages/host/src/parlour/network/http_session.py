"""Sends HTTP requests through the proxy of their address. aiohttp and the SOCKS library are loaded on first use."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from .proxies import Proxy, ProxySettings

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

MAX_CONNECTIONS = 50
"""Connections that one session keeps at the same time."""
PROXY_AUTHENTICATION_REQUIRED = 407
WRONG_CREDENTIALS = "refused the user or password"


class ProxyFailed(OSError):
    """Raised when a proxy could not be used, so nothing reached the target. The text names the proxy."""


class ProxySession:
    """An HTTP session that chooses the proxy of each request. It keeps one pool, and one per SOCKS proxy."""

    def __init__(self, proxies: ProxySettings, max_connections: int = MAX_CONNECTIONS) -> None:
        self._proxies = proxies
        self._max_connections = max_connections
        self._sessions: dict[str, ClientSession] = {}

    @asynccontextmanager
    async def request(self, method: str, url: str, **options: Any) -> "AsyncIterator[ClientResponse]":
        """Sends a request, with the options of aiohttp. Raises InvalidProxy, ProxyFailed and the errors of aiohttp."""
        proxy = self._proxies.for_url(url)
        if proxy is not None and not proxy.is_socks:
            options["proxy"] = proxy.url
        try:
            response = await self._session(proxy).request(method, _exact(url), **options)
        except Exception as error:
            reason = proxy_failure_reason(error) if proxy is not None else ""
            if proxy is None or not reason:
                raise
            raise ProxyFailed(f"the proxy {proxy.name} {reason}") from None
        async with response:
            if proxy is not None and response.status == PROXY_AUTHENTICATION_REQUIRED:
                raise ProxyFailed(f"the proxy {proxy.name} {WRONG_CREDENTIALS}")
            yield response

    async def close(self) -> None:
        sessions, self._sessions = self._sessions, {}
        for session in sessions.values():
            await session.close()

    def _session(self, proxy: Proxy | None) -> "ClientSession":
        key = proxy.url if proxy is not None and proxy.is_socks else ""
        if key not in self._sessions:
            self._sessions[key] = self._open(proxy if key else None)
        return self._sessions[key]

    def _open(self, socks: Proxy | None) -> "ClientSession":
        from aiohttp import ClientSession, DummyCookieJar, TCPConnector

        connector = TCPConnector(limit=self._max_connections) if socks is None else self._socks_connector(socks)
        return ClientSession(connector=connector, cookie_jar=DummyCookieJar())

    def _socks_connector(self, proxy: Proxy) -> Any:
        from aiohttp_socks import ProxyConnector

        scheme, _, rest = proxy.url.partition("://")
        # socks5h leaves the resolution of names to the proxy, socks5 does not
        return ProxyConnector.from_url(f"socks5://{rest}", rdns=scheme == "socks5h", limit=self._max_connections)


def proxy_failure_reason(error: BaseException) -> str:
    """Describes an error that a proxy caused, without its address; empty for any other error."""
    name = type(error).__name__
    if name in ("ClientProxyConnectionError", "ProxyConnectionError"):
        return f"can't be reached: {connection_error_reason(error)}"
    if name == "ProxyTimeoutError":
        return "did not answer in time"
    status = getattr(error, "status", None)
    if name == "ClientHttpProxyError":
        if status == PROXY_AUTHENTICATION_REQUIRED:
            return WRONG_CREDENTIALS
        return f"refused the connection (HTTP status {status})"
    if name in ("ProxyError", "SocksError"):
        return f"refused the connection ({str(error)[:100]})"
    return ""


def connection_error_reason(error: BaseException) -> str:
    """Describes why no connection was made, without the address, which may contain a secret."""
    cause = getattr(error, "os_error", None) or getattr(error, "__cause__", None) or error
    for each in (error, getattr(error, "certificate_error", None), cause):
        if isinstance(each, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({each.verify_message})"
        if isinstance(each, ssl.SSLError):
            return "what listens there does not speak TLS"
    if "DNS" in type(error).__name__ or type(cause).__name__ == "gaierror":
        return "there is no host of that name"
    if isinstance(cause, TimeoutError):
        return "it did not answer in time"
    return getattr(cause, "strerror", None) or type(cause).__name__


def _exact(url: str) -> Any:
    """Returns the address without quoting it again: ids in its path are quoted already."""
    from yarl import URL

    return URL(url, encoded=True)
