"""Which names a browser may know this Host by: a page of somebody else's must not reach it under a name of theirs."""

import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from .errors import Problem

LOOPBACK_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))


class HostNames:
    """Keys need none of this: nobody's browser sends one unasked."""

    def __init__(self, listening: str, names: Sequence[str]) -> None:
        self._loopback = is_loopback(listening)
        self._names = frozenset(name.casefold() for name in names) | {listening.casefold()}

    def check(self, connection: HTTPConnection) -> None:
        """The Host header is one of ours, and the Origin, where there is one, is the same."""
        host = connection.headers.get("host", "")
        name = (urlsplit(f"//{host}").hostname or "").casefold()
        if not self._known(name):
            message = f"this Host does not answer browsers as '{name}'; its operator can add the name to http.names"
            raise Problem(403, "forbidden", message)
        origin = connection.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.casefold() != host.casefold():
            raise Problem(403, "forbidden", "the request comes from a page of another site")

    def _known(self, name: str) -> bool:
        if name in self._names or name in LOOPBACK_NAMES:
            return True
        return not self._loopback and _is_address(name)


def is_loopback(host: str) -> bool:
    return host.casefold() in LOOPBACK_NAMES or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
