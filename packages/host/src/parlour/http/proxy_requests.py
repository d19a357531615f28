"""Restores the client's address, scheme, host and path prefix of requests that came through a reverse proxy.

It also limits the open requests per forwarded address, since the connections of a proxy belong to many clients.
"""

from collections import Counter
from collections.abc import Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from .body_limit import AsgiApp, Message, Receive, Send
from .client_address import TrustedProxies, limit_key
from .errors import ErrorResponses, Problem
from .localization import localized_send

Scope = MutableMapping[str, Any]
_SOCKET_SCHEMES = {"http": "ws", "https": "wss"}


class ProxyMiddleware:
    def __init__(
        self,
        app: AsgiApp,
        responses: ErrorResponses,
        proxies: TrustedProxies,
        prefix: str,
        per_address: int,
        refused: Callable[[], None],
    ) -> None:
        self._app = app
        self._responses = responses
        self._proxies = proxies
        self._prefix = prefix
        self._per_address = per_address
        self._refused = refused
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._prefix:
            scope, send = self._without_prefix(scope), self._with_prefix(send)
        peer = scope["client"][0] if scope.get("client") else ""
        if not (self._proxies and self._proxies.includes(peer)):
            await self._app(scope, receive, send)
            return
        scope, client = self._apply_forwarded(scope)
        if not client:
            await self._app(scope, receive, send)
            return
        key = limit_key(client)
        if self._open[key] >= self._per_address:
            self._refused()
            message = f"there are {self._per_address} open requests from this address; wait until one has ended"
            answer = self._responses.build(Problem(429, "rate_limited", message, {"retry_after": 1}))
            await answer(scope, receive, localized_send(scope, send))
            return
        self._open[key] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]

    def _without_prefix(self, scope: Scope) -> Scope:
        """Removes the prefix from a path. A path without it is unchanged: the proxy may have removed it already."""
        prefix, path = self._prefix, scope["path"]
        if path != prefix and not path.startswith(f"{prefix}/"):
            return scope
        raw = (scope.get("raw_path") or b"").removeprefix(prefix.encode())
        return {**scope, "path": path.removeprefix(prefix) or "/", "raw_path": raw or b"/"}

    def _with_prefix(self, send: Send) -> Send:
        """Adds the prefix to the location of a redirect."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and 300 <= message["status"] < 400:
                headers = [(name, self._prefix_location(name, value)) for name, value in message["headers"]]
                message = {**message, "headers": headers}
            await send(message)

        return sent

    def _prefix_location(self, name: bytes, value: bytes) -> bytes:
        if name != b"location":
            return value
        parts = urlsplit(value.decode("latin-1"))
        return parts._replace(path=self._prefix + parts.path).geturl().encode("latin-1")

    def _apply_forwarded(self, scope: Scope) -> tuple[Scope, str]:
        """Returns the scope with the values that the proxy sent, and the client's address if it sent one."""
        forwarded = self._proxies.parse_headers(scope["headers"])
        changed: dict[str, Any] = {}
        if forwarded.client:
            changed["client"] = (forwarded.client, 0)
        if forwarded.scheme:
            changed["scheme"] = _SOCKET_SCHEMES[forwarded.scheme] if scope["type"] == "websocket" else forwarded.scheme
        if forwarded.host:
            others = [(name, value) for name, value in scope["headers"] if name != b"host"]
            changed["headers"] = [(b"host", forwarded.host.encode("latin-1")), *others]
        return {**scope, **changed}, forwarded.client
