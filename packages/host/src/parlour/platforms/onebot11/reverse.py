"""Listens for OneBot implementations that connect to us. Who may come in is decided before the connection opens."""

import asyncio
import errno
import hmac
import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from parlour.core.platforms.port import AdapterStopped, Link
from parlour.platforms.backoff import Backoff

from .accounts import Accounts
from .client import CLOSE_SECONDS, LARGEST_FRAME, Connection
from .configuration import LAST_PORT, host_problem, port_problem

DEFAULT_HOST = "127.0.0.1"
EVERYWHERE = ("0.0.0.0", "::")
"""Addresses to listen on by which nobody can connect."""
PATHS = ("/", "/ws", "/onebot/v11/ws")
ROLES = ("universal", "api", "event")
LONGEST_ACCOUNT = 64
PING_SECONDS = 20.0
"""So often it is looked whether the other end is there, and so long an answer may take."""
quiet_logger = logging.getLogger(f"{__name__}.socket")
quiet_logger.setLevel(logging.ERROR)  # the library logs whole requests, and with them the token
Talk = Callable[[Connection], Awaitable[None]]


class Listener:
    def __init__(self, link: Link, accounts: Accounts, talk: Talk) -> None:
        self._link = link
        self._host = str(link.config.get("host") or DEFAULT_HOST)
        self._port = int(link.config.get("port") or 0)
        self._token = str(link.config.get("access_token") or "")
        self._accounts = accounts
        self._talk = talk

    async def serve(self) -> None:
        if port_problem(self._port):  # the event loop would take another one in its place
            raise AdapterStopped(f"port: there is no port {self._port}; choose one from 1024 to {LAST_PORT}")
        if problem := host_problem(self._host):
            raise AdapterStopped(f"host: {problem}")
        backoff = Backoff()
        while True:
            try:
                server = await self._listen()
            except OSError as error:
                seconds = backoff.another()
                self._link.state("failed", f"{self._problem(error)}; trying again in {seconds:.0f} s")
                await asyncio.sleep(seconds)
                continue
            self._accounts.begin()
            async with server:
                await server.serve_forever()

    async def _listen(self) -> Server:
        return await serve(
            self._connected,
            self._host,
            self._port,
            process_request=self._admit,
            max_size=LARGEST_FRAME,
            compression=None,
            ping_interval=PING_SECONDS,
            ping_timeout=PING_SECONDS,
            close_timeout=CLOSE_SECONDS,
            logger=quiet_logger,
        )

    async def _connected(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        headers = socket.request.headers
        connection = Connection(socket, _role(headers))
        account = headers.get("X-Self-ID", "")
        if account:
            self._accounts.add(account, connection)
        try:
            await self._talk(connection)
        finally:
            self._accounts.remove(connection)

    async def _admit(self, socket: ServerConnection, request: Request) -> Response | None:
        """None lets it in. Who comes to report events alone may never read, so no answer to a ping is missed."""
        peer = str(socket.remote_address[0]) if socket.remote_address else "an unknown address"
        address, headers = urlsplit(request.path), request.headers
        account, *others = headers.get_all("X-Self-ID") or [""]
        if others or len(account) > LONGEST_ACCOUNT:
            return _refused(HTTPStatus.BAD_REQUEST, "X-Self-ID: one account's number is expected")
        if not self._token_fits(headers, address.query):
            self._accounts.wrong_token(account, peer)
            return _refused(HTTPStatus.UNAUTHORIZED, "the access token is missing or wrong")
        if address.path.rstrip("/") not in {path.rstrip("/") for path in PATHS}:
            self._accounts.wrong_path(account, peer, PATHS)
            return _refused(HTTPStatus.NOT_FOUND, f"connect to one of {', '.join(PATHS)}")
        role = _role(headers)
        if account and await self._accounts.claimed(account, role):
            self._accounts.second_claim(account, peer)
            return _refused(HTTPStatus.CONFLICT, f"account {account} is connected already")
        if role == "event":
            socket.ping_timeout = None
        return None

    def _token_fits(self, headers: Headers, query: str) -> bool:
        if not self._token:
            return True
        scheme, _, given = headers.get("Authorization", "").partition(" ")
        if scheme.lower() not in ("bearer", "token"):
            given = ""
        named = parse_qs(query).get("access_token", [""])[0]
        return any(hmac.compare_digest(each.encode(), self._token.encode()) for each in (given.strip(), named))

    def _problem(self, error: OSError) -> str:
        place = f"port {self._port} on {self._host}"
        if error.errno == errno.EADDRINUSE:
            return f"{place} is in use by another program or bot; choose another port or stop the other one"
        if error.errno == errno.EACCES:
            return f"{place} may not be opened by this user; choose a port above 1023"
        return f"{place} can't be listened on: {error.strerror or error}"


def waiting(link: Link) -> str:
    """What is to be done while nobody is connected."""
    host = str(link.config.get("host") or DEFAULT_HOST)
    place = "THIS-MACHINE" if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    address = f"ws://{place}:{link.config.get('port')}/onebot/v11/ws"
    return f"no OneBot implementation is connected; point its reverse WebSocket at {address}"


def _role(headers: Headers) -> str:
    role = headers.get("X-Client-Role", "universal").lower()
    return role if role in ROLES else "universal"


def _refused(status: HTTPStatus, sentence: str) -> Response:
    body = f"{sentence}\n".encode()
    headers = Headers({"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body))})
    headers["Connection"] = "close"
    return Response(status.value, status.phrase, headers, body)
