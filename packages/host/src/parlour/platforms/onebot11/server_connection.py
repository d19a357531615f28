"""Listens on the bot's own port for OneBot implementations, which Admission authenticates."""

import asyncio
import errno
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlsplit

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from parlour.core.backoff import Backoff
from parlour.core.platforms.hooks import Handshake
from parlour.core.platforms.port import AdapterStopped, HostLink

from .accounts import OneBotAccounts
from .admission import Admission, role_of
from .client import CLOSE_TIMEOUT_SECONDS, MAX_FRAME_BYTES, OneBotConnection
from .configuration import LAST_PORT, host_problem, port_problem, token_problem

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


class LimitedConnection(ServerConnection):
    """Aborts a new connection while MAX_CONNECTIONS others are open."""

    def __init__(
        self, others: set[ServerConnection], refused: Callable[[], None], *arguments: Any, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self._others = others
        self._refused = refused

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if len(self._others) < MAX_CONNECTIONS:
            self._others.add(self)
        else:
            self.transport.abort()
            self._refused()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._others.discard(self)


class ReverseListener:
    """Listens on the configured port (mode `reverse`)."""

    def __init__(
        self, link: HostLink, accounts: OneBotAccounts, admission: Admission, talk: ServeConnection, backoff: Backoff
    ) -> None:
        self._link = link
        self._host = str(link.config.get("host") or DEFAULT_HOST)
        self._port = int(link.config.get("port") or 0)
        self._accounts = accounts
        self._admission = admission
        self._talk = talk
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
        asked = _handshake(socket, socket.request)
        connection = OneBotConnection(socket, role_of(asked))
        if account := asked.header("x-self-id"):
            self._accounts.add(account, connection)
        try:
            await self._talk(connection)
        finally:
            self._accounts.remove(connection)

    async def _admit(self, socket: ServerConnection, request: Request) -> Response | None:
        """Returns None to accept the connection.

        Event sockets may never read, so a missing pong is ignored for them.
        """
        asked = _handshake(socket, request)
        refusal = await self._admission.refusal(asked)
        if refusal is not None:
            return _refused(refusal.status, refusal.sentence)
        if role_of(asked) == "event":
            socket.ping_timeout = None
        return None

    def _problem(self, error: OSError) -> str:
        place = f"port {self._port} on {self._host}"
        if error.errno == errno.EADDRINUSE:
            return f"{place} is in use by another program or bot; choose another port or stop the other one"
        if error.errno == errno.EACCES:
            return f"{place} may not be opened by this user; choose a port above 1023"
        return f"{place} can't be listened on: {error.strerror or error}"


def connect_instruction(link: HostLink) -> str:
    """Returns the addresses that an implementation can connect to, as an instruction."""
    places = []
    if port := link.config.get("port"):
        host = str(link.config.get("host") or DEFAULT_HOST)
        place = "THIS-MACHINE" if host in WILDCARD_ADDRESSES else f"[{host}]" if ":" in host else host
        places.append(f"ws://{place}:{port}/onebot/v11/ws")
    if link.config.get("access_token"):
        path = f"/hooks/{link.bot_id}/onebot/v11/ws"
        public = f"ws{link.public_url.removeprefix('http')}{path}"
        places.append(public if link.public_url else f"{path} at the address of this Host's page")
    return f"no OneBot implementation is connected; point its reverse WebSocket at {', or at '.join(places)}"


def _handshake(socket: ServerConnection, request: Request) -> Handshake:
    address = urlsplit(request.path)
    peer = str(socket.remote_address[0]) if socket.remote_address else "an unknown address"
    headers = [(name.lower(), value) for name, value in request.headers.raw_items()]
    return Handshake(address.path, address.query, headers, peer)


def _refused(status: HTTPStatus, sentence: str) -> Response:
    body = f"{sentence}\n".encode()
    headers = Headers({"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body))})
    headers["Connection"] = "close"
    return Response(status.value, status.phrase, headers, body)
