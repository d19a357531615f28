"""Opens WebSocket connections to a server that has the same token. The transport then carries the frames."""

import asyncio
import re
import socket
import ssl
from typing import Final, cast

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidHandshake, InvalidStatus, InvalidURI
from websockets.protocol import CONNECTING
from websockets.uri import WebSocketURI, parse_uri

from parlour_sdk.wire.errors import INVALID_ARGUMENT, WireError
from parlour_sdk.wire.limits import DEFAULT_LIMITS, WireLimits
from parlour_sdk.wire.websocket.tokens import TOKEN_SHAPE, bearer, is_token
from parlour_sdk.wire.websocket.transport import LIBRARY_LOGGER, PEER_TIMEOUT_SECONDS, WebSocketTransport, write_out

UNREACHABLE: Final = "unreachable"
TLS_FAILED: Final = "tls_failed"
UNAUTHORIZED: Final = "unauthorized"
NOT_FOUND: Final = "not_found"
REFUSED: Final = "refused"

_STATUSES: Final = {
    401: (UNAUTHORIZED, "it doesn't accept the token (401); both sides need the same one"),
    403: (UNAUTHORIZED, "it forbids this connection (403); the token may lack a permission there"),
    404: (NOT_FOUND, "it has nothing under that path (404); check the end of the address"),
}


class CannotConnect(WireError):
    """Raised when no connection was established. The message says what to check, the code whether a retry may help."""


async def connect(
    url: str,
    token: str | None,
    limits: WireLimits = DEFAULT_LIMITS,
    *,
    tls: ssl.SSLContext | None = None,
    patience: float = PEER_TIMEOUT_SECONDS,
    timeout: float = 10.0,
) -> WebSocketTransport:
    """Opens a connection or raises `CannotConnect`. `tls` replaces the system's trusted certificates for wss://."""
    opening = _Handshake(_address(url), _checked(token), limits, patience)
    try:
        async with asyncio.timeout(timeout):
            return await opening.open(tls)
    except (OSError, InvalidHandshake) as error:
        code, reason = _explain_failure(error, timeout)
        raise CannotConnect(code, f"can't connect to {url.partition('?')[0]}: {reason}") from error


class _Handshake(asyncio.Protocol):
    """A connection until the server has answered the upgrade request."""

    def __init__(self, address: WebSocketURI, token: str | None, limits: WireLimits, timeout: float) -> None:
        self._address = address
        self._token = token
        self._limits = limits
        self._timeout = timeout
        self._protocol = ClientProtocol(address, max_size=limits.frame_bytes, logger=LIBRARY_LOGGER)
        self._socket: asyncio.Transport | None = None
        self._opened: asyncio.Future[WebSocketTransport] = asyncio.get_running_loop().create_future()

    async def open(self, tls: ssl.SSLContext | None) -> WebSocketTransport:
        context = (tls or ssl.create_default_context()) if self._address.secure else None
        loop = asyncio.get_running_loop()
        try:
            await loop.create_connection(lambda: self, self._address.host, self._address.port, ssl=context)
            return await self._opened
        except BaseException:
            self._opened.cancel()
            if self._socket is not None:
                self._socket.abort()
            raise

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._socket = cast(asyncio.Transport, transport)
        request = self._protocol.connect()
        if self._token is not None:
            request.headers["Authorization"] = bearer(self._token)
        self._protocol.send_request(request)
        write_out(self._protocol, self._socket)

    def data_received(self, data: bytes) -> None:
        self._protocol.receive_data(data)
        self._check_handshake()

    def eof_received(self) -> None:
        self._protocol.receive_eof()
        self._check_handshake()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._opened.done():
            self._opened.set_exception(exc or ConnectionResetError("the connection was closed without an answer"))

    def _check_handshake(self) -> None:
        if self._opened.done():
            return
        if self._protocol.handshake_exc is not None:
            self._opened.set_exception(self._protocol.handshake_exc)
        elif self._protocol.state is not CONNECTING and self._socket is not None:
            _, *early_events = self._protocol.events_received()
            transport = WebSocketTransport(self._protocol, self._socket, early_events, self._limits, self._timeout)
            self._opened.set_result(transport)


def _address(url: str) -> WebSocketURI:
    try:
        address = parse_uri(url)
        address.host.encode("idna")
    except (InvalidURI, ValueError):
        raise _no_address() from None
    # Credentials in an address end up in logs, and whitespace would end the request line early.
    if address.username is not None or re.search(r"\s", url):
        raise _no_address()
    return address


def _no_address() -> CannotConnect:
    return CannotConnect(INVALID_ARGUMENT, "the address must look like ws://host:port/path or wss://host:port/path")


def _checked(token: str | None) -> str | None:
    if token is not None and not is_token(token):
        raise CannotConnect(INVALID_ARGUMENT, TOKEN_SHAPE)
    return token


def _explain_failure(error: Exception, timeout: float) -> tuple[str, str]:
    match error:
        case InvalidStatus():
            status = error.response.status_code
            return _STATUSES.get(status, (REFUSED, f"it answered with HTTP status {status} instead of a WebSocket"))
        case InvalidHandshake() if not isinstance(error.__cause__, EOFError):
            return REFUSED, "what answers there is no WebSocket server; check host, port and ws or wss"
        case ssl.SSLCertVerificationError():
            return TLS_FAILED, f"its certificate isn't trusted here ({error.verify_message})"
        case ssl.SSLError():
            return TLS_FAILED, f"no TLS connection came about ({error.reason}); use ws:// if it has no certificate"
        case socket.gaierror():
            return UNREACHABLE, "the host name can't be resolved; check its spelling"
        case InvalidHandshake() | ConnectionResetError() | ConnectionAbortedError():
            return UNREACHABLE, "it hung up without an answer; check host, port and ws or wss"
        case TimeoutError():
            return UNREACHABLE, f"no answer came within {timeout:g} seconds"
        case _:
            return UNREACHABLE, f"nothing answers there; check the address and that it runs ({error})"
