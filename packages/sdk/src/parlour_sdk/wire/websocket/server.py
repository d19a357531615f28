"""Listens for WebSocket connections and admits clients that present a known token. Callbacks use the connections."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final, TypeAlias, cast
from weakref import WeakSet

from websockets.http11 import Request, Response
from websockets.server import ServerProtocol

from parlour_sdk.wire.limits import DEFAULT_LIMITS, WireLimits
from parlour_sdk.wire.websocket.tokens import TOKEN_SHAPE, is_same, is_token, parse_bearer_token
from parlour_sdk.wire.websocket.transport import LIBRARY_LOGGER, PEER_TIMEOUT_SECONDS, WebSocketTransport, write_out

OnConnection: TypeAlias = Callable[[str, WebSocketTransport], None]
Admit: TypeAlias = Callable[[str], OnConnection | None]
"""Returns the callback for connections that present this token; None if the token is unknown."""

_UPGRADE_TIMEOUT_SECONDS: Final = 10.0  # seconds for the request to arrive, and for a refusal to be read
_MAX_UPGRADES: Final = 512
"""Maximum of open connections without a token yet, so that they can't exhaust the process's file descriptors."""


def serve(
    host: str,
    port: int,
    token: str,
    on_connection: OnConnection,
    *,
    accepts: Callable[[str], bool] = lambda path: True,
    limits: WireLimits = DEFAULT_LIMITS,
    tls: ssl.SSLContext | None = None,
    patience: float = PEER_TIMEOUT_SECONDS,
) -> AbstractAsyncContextManager[int]:
    """Listens like `serve_admitted`, with one token for all clients."""
    if not is_token(token):
        raise ValueError(f"a server needs a token, or anyone who reaches its port could use it; {TOKEN_SHAPE}")

    def admit(presented_token: str) -> OnConnection | None:
        return on_connection if is_same(presented_token, token) else None

    return serve_admitted(host, port, admit, accepts=accepts, limits=limits, tls=tls, patience=patience)


@asynccontextmanager
async def serve_admitted(
    host: str,
    port: int,
    admit: Admit,
    *,
    accepts: Callable[[str], bool] = lambda path: True,
    limits: WireLimits = DEFAULT_LIMITS,
    tls: ssl.SSLContext | None = None,
    patience: float = PEER_TIMEOUT_SECONDS,
) -> AsyncIterator[int]:
    """Listens while the context is open; its value is the port, which the system chooses if `port` is 0.

    The callback that `admit` returns receives the path and the transport of each connection whose path is accepted.
    Leaving the context closes all connections and notifies both sides of each.
    """
    state = _ServerState(admit, accepts, limits, patience)
    loop = asyncio.get_running_loop()
    tls_within = None if tls is None else _UPGRADE_TIMEOUT_SECONDS
    server = await loop.create_server(lambda: _Upgrade(state), host, port, ssl=tls, ssl_handshake_timeout=tls_within)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await state.close()
        await server.wait_closed()


@dataclass(frozen=True, eq=False)
class _ServerState:
    """The state that all connections of one server share."""

    admit: Admit
    accepts: Callable[[str], bool]
    limits: WireLimits
    patience: float
    upgrades: "WeakSet[_Upgrade]" = field(default_factory=WeakSet)
    transports: WeakSet[WebSocketTransport] = field(default_factory=WeakSet)

    async def close(self) -> None:
        for upgrade in list(self.upgrades):
            upgrade.abort()
        transports = list(self.transports)
        for transport in transports:
            transport.shut_down("the server is shutting down")
        for transport in transports:
            await transport.wait_closed()


class _Upgrade(asyncio.Protocol):
    """A connection before it becomes a WebSocket, or one that is refused."""

    def __init__(self, state: _ServerState) -> None:
        self._state = state
        self._protocol = ServerProtocol(max_size=state.limits.frame_bytes, logger=LIBRARY_LOGGER)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._socket = cast(asyncio.Transport, transport)
        self._timer = asyncio.get_running_loop().call_later(_UPGRADE_TIMEOUT_SECONDS, self.abort)
        if len(self._state.upgrades) < _MAX_UPGRADES:
            self._state.upgrades.add(self)
        else:
            self.abort()

    def data_received(self, data: bytes) -> None:
        self._protocol.receive_data(data)
        events = self._protocol.events_received()
        if not events:
            write_out(self._protocol, self._socket)  # the library itself rejects invalid requests
        elif len(events) == 1 and isinstance(events[0], Request) and not self._protocol.close_expected():
            self._answer(events[0])
        else:  # WebSocket frames before the connection was accepted
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._release()

    def abort(self) -> None:
        self._socket.abort()

    def _release(self) -> None:
        self._timer.cancel()
        self._state.upgrades.discard(self)

    def _answer(self, request: Request) -> None:
        token = parse_bearer_token(request.headers.get_all("Authorization"))
        on_connection = None if token is None else self._state.admit(token)
        response = self._response(request, on_connection is not None)
        self._protocol.send_response(response)
        write_out(self._protocol, self._socket)
        if on_connection is not None and response.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
            self._release()
            state = self._state
            transport = WebSocketTransport(self._protocol, self._socket, (), state.limits, state.patience)
            state.transports.add(transport)
            on_connection(_path(request), transport)

    def _response(self, request: Request, admitted: bool) -> Response:
        if not admitted:
            sentence = "Send a token that this server knows as 'Authorization: Bearer TOKEN'.\n"
            response = self._protocol.reject(HTTPStatus.UNAUTHORIZED, sentence)
            response.headers["WWW-Authenticate"] = "Bearer"
            return response
        if "Origin" in request.headers:
            return self._protocol.reject(HTTPStatus.FORBIDDEN, "Web pages may not connect here (Origin).\n")
        if not self._state.accepts(_path(request)):
            return self._protocol.reject(HTTPStatus.NOT_FOUND, "There is nothing under this path.\n")
        return self._protocol.accept(request)


def _path(request: Request) -> str:
    return request.path.partition("?")[0]
