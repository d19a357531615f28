"""Decides under which host names browsers may reach this Host, so that a page of another site can't use it."""

import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from .client_address import FORWARDING_HEADERS, is_loopback_address
from .errors import Problem

LOOPBACK_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))


class AllowedHosts:
    """Checks requests of browsers; those with an API key need no check, since a browser never sends one by itself."""

    def __init__(self, listening: str, names: Sequence[str], public_url: str = "", proxied: bool = False) -> None:
        """`proxied`: the settings say that there is a reverse proxy."""
        self._loopback = is_loopback(listening)
        self._names = frozenset(name.casefold() for name in names) | {listening.casefold()}
        self._public_origin = _origin(public_url) if public_url else ""
        self._proxied = proxied

    def check(self, connection: HTTPConnection) -> None:
        """Requires a Host header that is one of the allowed names. An Origin header, if present, must match that host
        or the public address."""
        host = connection.headers.get("host", "")
        name = _name(host)
        if not self._is_allowed(name):
            message = f"this Host does not answer browsers as '{name}'; its operator can add the name to http.names"
            raise Problem(403, "forbidden", message)
        origin = connection.headers.get("origin")
        if origin is not None and not self._same_site(origin, host):
            raise Problem(403, "forbidden", "the request comes from a page of another site")

    def is_local(self, connection: HTTPConnection) -> bool:
        """Returns whether a request came directly from a user of this machine. Any sign of a proxy means no, since its
        users may be anywhere."""
        client = connection.client.host if connection.client else ""
        straight = (
            self._loopback
            and not self._proxied
            and is_loopback_address(client)
            and FORWARDING_HEADERS.isdisjoint(connection.headers.keys())
            and connection.scope.get("http_version") != "1.0"  # the default of many proxies
        )
        return straight and is_loopback(_name(connection.headers.get("host", "")))

    def _same_site(self, origin: str, host: str) -> bool:
        try:
            if self._public_origin and _origin(origin) == self._public_origin:
                return True
            return urlsplit(origin).netloc.casefold() == host.casefold()
        except ValueError:  # not a URL
            return False

    def _is_allowed(self, name: str) -> bool:
        if name in self._names or name in LOOPBACK_NAMES:
            return True
        return not self._loopback and _is_address(name)


def is_loopback(host: str) -> bool:
    return host.casefold() in LOOPBACK_NAMES or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").casefold()
    except ValueError:
        return ""


def _origin(url: str) -> str:
    """Returns scheme, host and port as a browser writes them."""
    parts = urlsplit(url)
    standard = {"http": ":80", "https": ":443"}.get(parts.scheme, "")
    return f"{parts.scheme}://{parts.netloc.casefold().removesuffix(standard)}"


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
