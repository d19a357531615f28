"""Opens the WebSockets of a bot: at its own port, at the Host's port, or to an implementation that listens."""

import asyncio
import errno
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlsplit

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Close, CloseCode
from websockets.http11 import Request, Response

from parlour.core.backoff import Backoff
from parlour.core.platforms.hooks import Handshake, HookSocket, SocketClosed
from parlour.core.platforms.port import AdapterStopped, HostLink
from parlour.platforms._kit.close_codes import ClosePolicy
from parlour.platforms._kit.proxy_fields import configured_proxies
from parlour.platforms._kit.websocket_client import PlatformSocket, PlatformWebSocketClient, SocketAddress

from .accounts import Admission, OneBotAccounts, role_of
from .configuration import LAST_PORT, host_problem, port_problem, token_problem, url_problem
from .connection import CLOSE_TIMEOUT_SECONDS, MAX_FRAME_BYTES, OneBotConnection

DEFAULT_HOST = "127.0.0.1"
WILDCARD_ADDRESSES = ("0.0.0.0", "::")
"""Addresses that can be listened on but not connected to."""
PING_INTERVAL_SECONDS = 20.0
"""Seconds between pings, and also the time limit for a pong."""
MAX_CONNECTIONS = 100
"""Maximum number of connections at one port, authenticated or not, so that they can't use up the Host's file
descriptors.
"""
quiet_logger = logging.getLogger(f"{__name__}.socket")
quiet_logger.setLevel(logging.ERROR)  # the library logs whole requests, including the token
ServeConnection = Callable[[OneBotConnection], Awaitable[None]]
STOPPING = 1012
SERVICE = "the OneBot implementation"
WAITING_FOR_ACCOUNT = "the OneBot implementation is there and has yet to say whose account it is"
TOKEN_REFUSED = "the OneBot implementation refused the access token; set the same one here and there"
HEARTBEAT_STOPPED = "the heartbeat stopped"


class LimitedConnection(ServerConnection):
    """Aborts a new connection while MAX_CONNECTIONS others are open."""

    def __init__(
        self, open_connections: set[ServerConnection], on_refused: Callable[[], None], *arguments: Any, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self._open_connections = open_connections
        self._refusal_response = on_refused

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if len(self._open_connections) < MAX_CONNECTIONS:
            self._open_connections.add(self)
        else:
            self.transport.abort()
            self._refusal_response()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._open_connections.discard(self)


class ReverseListener:
    """Listens on the configured port (mode `reverse`)."""

    def __init__(
        self,
        link: HostLink,
        accounts: OneBotAccounts,
        admission: Admission,
        serve_connection: ServeConnection,
        backoff: Backoff,
    ) -> None:
        self._link = link
        self._host = str(link.config.get("host") or DEFAULT_HOST)
        self._port = int(link.config.get("port") or 0)
        self._accounts = accounts
        self._admission = admission
        self._serve_connection = serve_connection
        self._backoff = backoff

    async def serve(self) -> None:
        """Listens until it is cancelled. Port 0 means that implementations connect to the Host's own port only."""
        if port_problem(self._port):  # the event loop would use a different one
            raise AdapterStopped(f"port: there is no port {self._port}; choose one from 1024 to {LAST_PORT}, or 0")
        if problem := host_problem(self._host):
            raise AdapterStopped(f"host: {problem}")
        if problem := token_problem(self._link.config):  # it may have been saved before this check existed
            raise AdapterStopped(f"access_token: {problem}")
        if not self._port:
            self._accounts.report_status()
            await asyncio.get_running_loop().create_future()
        while True:
            try:
                server = await self._listen()
            except OSError as error:
                seconds = self._backoff.next_delay()
                self._accounts.set_listen_problem(f"{self._problem(error)}; trying again in {seconds:.0f} s")
                await asyncio.sleep(seconds)
                continue
            self._accounts.set_listen_problem("")
            async with server:
                await server.serve_forever()

    async def _listen(self) -> Server:
        return await serve(
            self._connected,
            self._host,
            self._port,
            process_request=self._admit,
            create_connection=cast(Any, partial(LimitedConnection, set(), self._accounts.report_too_many_connections)),
            max_size=MAX_FRAME_BYTES,
            compression=None,
            ping_interval=PING_INTERVAL_SECONDS,
            ping_timeout=PING_INTERVAL_SECONDS,
            close_timeout=CLOSE_TIMEOUT_SECONDS,
            logger=quiet_logger,
        )

    async def _connected(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        handshake = _handshake(socket, socket.request)
        connection = OneBotConnection(socket, role_of(handshake))
        if account := handshake.header("x-self-id"):
            self._accounts.add(account, connection)
        try:
            await self._serve_connection(connection)
        finally:
            self._accounts.remove(connection)

    async def _admit(self, socket: ServerConnection, request: Request) -> Response | None:
        """Returns None to accept the connection.

        Event sockets may never read, so a missing pong is ignored for them.
        """
        handshake = _handshake(socket, request)
        refusal = await self._admission.refusal(handshake)
        if refusal is not None:
            return _refusal_response(refusal.status, refusal.sentence)
        if role_of(handshake) == "event":
            socket.ping_timeout = None
        return None

    def _problem(self, error: OSError) -> str:
        address = f"port {self._port} on {self._host}"
        if error.errno == errno.EADDRINUSE:
            return f"{address} is in use by another program or bot; choose another port or stop the other one"
        if error.errno == errno.EACCES:
            return f"{address} may not be opened by this user; choose a port above 1023"
        return f"{address} can't be listened on: {error.strerror or error}"


def connect_instruction(link: HostLink) -> str:
    """Returns the addresses that an implementation can connect to, as an instruction."""
    addresses = []
    if port := link.config.get("port"):
        host = str(link.config.get("host") or DEFAULT_HOST)
        address_host = "THIS-MACHINE" if host in WILDCARD_ADDRESSES else f"[{host}]" if ":" in host else host
        addresses.append(f"ws://{address_host}:{port}/onebot/v11/ws")
    if link.config.get("access_token"):
        path = f"/hooks/{link.bot_id}/onebot/v11/ws"
        public = f"ws{link.public_url.removeprefix('http')}{path}"
        addresses.append(public if link.public_url else f"{path} at the address of this Host's page")
    return f"no OneBot implementation is connected; point its reverse WebSocket at {', or at '.join(addresses)}"


def _handshake(socket: ServerConnection, request: Request) -> Handshake:
    address = urlsplit(request.path)
    peer = str(socket.remote_address[0]) if socket.remote_address else "an unknown address"
    headers = [(name.lower(), value) for name, value in request.headers.raw_items()]
    return Handshake(address.path, address.query, headers, peer)


def _refusal_response(status: HTTPStatus, sentence: str) -> Response:
    body = f"{sentence}\n".encode()
    headers = Headers({"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body))})
    headers["Connection"] = "close"
    return Response(status.value, status.phrase, headers, body)


class HostedSockets:
    """Sockets of one bot at the Host's own port."""

    def __init__(self, accounts: OneBotAccounts, admission: Admission, serve_connection: ServeConnection) -> None:
        self._accounts = accounts
        self._admission = admission
        self._serve_connection = serve_connection
        self._open: dict[HookSocket, asyncio.Task[Any]] = {}
        self._closed = False

    async def serve(self, socket: HookSocket) -> None:
        """Authenticates the socket and serves it until it is closed."""
        handshake = socket.handshake
        refusal = await self._admission.refusal(handshake, token_required=True)
        if refusal is not None:
            await socket.refuse(refusal.status, refusal.sentence)
            return
        if self._closed:
            await socket.refuse(503, "the bot is being stopped")
            return
        role = role_of(handshake)
        await socket.accept(MAX_FRAME_BYTES, requires_pongs=role != "event")  # go-cqhttp's event sockets never read
        connection = OneBotConnection(HostedSocket(socket), role)
        task = asyncio.current_task()
        assert task is not None
        self._open[socket] = task
        if account := handshake.header("x-self-id"):
            self._accounts.add(account, connection)
        try:
            await self._serve_connection(connection)
        finally:
            del self._open[socket]
            self._accounts.remove(connection)

    async def close(self) -> None:
        """Closes all sockets and waits until the events that they received are passed on."""
        self._closed = True
        await asyncio.gather(*(socket.close(STOPPING, "the bot is being stopped") for socket in list(self._open)))
        if self._open:
            await asyncio.wait(list(self._open.values()), timeout=CLOSE_TIMEOUT_SECONDS)


class HostedSocket:
    """Adapts a HookSocket to the interface of a `websockets` connection, which OneBotConnection expects."""

    def __init__(self, socket: HookSocket) -> None:
        self._socket = socket

    @property
    def remote_address(self) -> Any:
        return (self._socket.handshake.peer, 0)

    @property
    def transport(self) -> HookSocket:
        return self._socket

    async def recv(self, decode: bool | None = None) -> str | bytes:
        try:
            return await self._socket.receive()
        except SocketClosed as closed:
            raise _closed(closed) from None

    async def send(self, message: str) -> None:
        try:
            await self._socket.send(message)
        except SocketClosed as closed:
            raise _closed(closed) from None

    async def close(self, code: int = 1000, reason: str = "") -> None:
        await self._socket.close(code, reason)

    async def ping(self) -> Awaitable[None]:
        return _answered(await self._socket.ping())


async def _answered(pong: Awaitable[None]) -> None:
    try:
        await pong
    except ConnectionError:
        raise ConnectionClosedError(None, None) from None


def _closed(closed: SocketClosed) -> ConnectionClosedError:
    close_sent = Close(CloseCode.MESSAGE_TOO_BIG, "") if closed.too_large else None
    return ConnectionClosedError(None, close_sent)


class ForwardConnector:
    """Keeps the connection to the configured address open (mode `forward`)."""

    def __init__(
        self, link: HostLink, accounts: OneBotAccounts, serve_connection: ServeConnection, backoff: Backoff
    ) -> None:
        self._link = link
        self._url = str(link.config.get("url") or "")
        self._token = str(link.config.get("access_token") or "")
        self._accounts = accounts
        self._serve_connection = serve_connection
        proxies, policy = configured_proxies(link.config), OneBotRefusals()
        self._client = PlatformWebSocketClient(SERVICE, link, self, proxies, policy, backoff, PING_INTERVAL_SECONDS)

    async def serve(self) -> None:
        if problem := url_problem(self._url):  # it may have been saved before this check existed
            raise AdapterStopped(f"url: {problem}")
        await self._client.serve()

    async def address(self) -> SocketAddress:
        return SocketAddress(self._url, {"Authorization": f"Bearer {self._token}"} if self._token else {})

    async def opened(self, socket: PlatformSocket) -> None:
        """Serves the connection until it ends."""
        self._link.report_status("connecting", WAITING_FOR_ACCOUNT)  # replaces the error of the previous attempt
        connection = OneBotConnection(socket.connection)
        try:
            await self._serve_connection(connection)
        finally:
            self._accounts.remove(connection)
        socket.problem = TOKEN_REFUSED if connection.token_rejected else HEARTBEAT_STOPPED if connection.silent else ""

    async def received(self, socket: PlatformSocket, frame: str | bytes) -> None:
        """Ignores frames: `opened` has read all of them."""

    def forget(self) -> None:
        """Does nothing: OneBot has no sessions that continue."""


class OneBotRefusals(ClosePolicy):
    """Explains the HTTP statuses of OneBot implementations."""

    def describe_status(self, service: str, status: int, headers: Mapping[str, str] | None = None) -> str:
        if status in (401, 403):
            return TOKEN_REFUSED
        advice = "look at what it logs" if status >= 500 else "check the url's port and path"
        return f"the OneBot implementation answered with HTTP status {status}; {advice}"
