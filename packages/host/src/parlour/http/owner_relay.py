"""Passes requests that only the owner of a part can answer to that Host.

In a cluster a platform may call any Host, and so may a person who chats, or cancels a run. Some paths
say whose request it is; for the others the code that answers finds out (`core.ingest.arrivals`), and its answer is
dropped. The request is sent on as it is, with its credentials, and only once: the owner answers it, or says that it has
moved. What can be answered without live text is answered here if the owner can't be reached.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, Protocol

import aiohttp
from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector, WSMsgType
from starlette.responses import JSONResponse
from yarl import URL

from parlour.core.ingest.arrivals import ARRIVAL, AnsweredElsewhere
from parlour.core.model.ids import PartId

from .body_limit import AsgiApp, Receive, Send
from .errors import ErrorResponses, Problem
from .relayed_exchange import RelayedExchange, Scope

logger = logging.getLogger(__name__)

RELAYED: Final = b"x-parlour-relayed"
"""Header of a request that another Host has sent on."""
CONNECT_SECONDS: Final = 2.0
"""Seconds after which a Host that does not answer a new connection can't be reached."""
SILENT_SECONDS: Final = 660.0
"""Seconds in which an answer may say nothing; above the longest wait for the result of an event."""
PING_SECONDS: Final = 5.0
"""Seconds between pings to the owner on a WebSocket that is passed on."""
CHUNK_BYTES: Final = 64 * 1024
RESTARTED_CLOSE_CODE: Final = 1012
_UNSENDABLE_CLOSE_CODES: Final = frozenset((1005, 1006, 1015))
_HOP_HEADERS: Final = frozenset(
    (b"connection", b"keep-alive", b"transfer-encoding", b"te", b"trailer", b"upgrade", b"content-length", RELAYED)
)


class OwnerFinder(Protocol):
    """Finds the addresses of owners. Empty: this Host answers. None: the owner is not known or can't be reached."""

    async def find(self, method: str, path: str) -> str | None:
        """Returns the owner of what a request names in its path."""
        ...

    async def address(self, part: PartId) -> str | None:
        """Returns the owner of a part."""
        ...


CountRequest = Callable[[str], None]
"""Counts a request about a part of another Host: `relayed`, `answered_here` or `unreachable`."""


class OwnerUnreachable(Exception):
    """Raised when nothing of a request has reached the owner."""


class OwnerRelay:
    """ASGI application that answers what this Host owns, and relays the rest."""

    def __init__(
        self, app: AsgiApp, owners: OwnerFinder, responses: ErrorResponses, body_bytes: int, count: CountRequest
    ) -> None:
        self._app = app
        self._owners = owners
        self._responses = responses
        self._body_bytes = body_bytes
        self._count = count
        self._session: ClientSession | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_relayed = any(name == RELAYED for name, _ in scope.get("headers", ()))
        if is_relayed or scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        exchange = RelayedExchange(receive, send, self._body_bytes)
        owner = await self._owners.find(scope.get("method", "WEBSOCKET"), scope["path"])
        if owner == "":
            part = await self._try_to_answer(scope, exchange)
            if part is not None:
                await self._pass_on_or_answer(part, scope, exchange)
            return
        try:
            await self._pass_on(owner, scope, exchange)
        except OwnerUnreachable:
            self._count("unreachable")
            await self._unreachable()(scope, exchange.receive, send)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _try_to_answer(self, scope: Scope, exchange: RelayedExchange) -> PartId | None:
        """Answers a request, unless it turns out to be about the part of another Host. Then returns the part."""
        token = ARRIVAL.set(exchange.arrival)
        try:
            await self._app(dict(scope), exchange.receive, exchange.send)
        except AnsweredElsewhere:
            if exchange.arrival.is_final:
                raise
        finally:
            ARRIVAL.reset(token)
        return None if exchange.arrival.is_final else exchange.arrival.part

    async def _pass_on_or_answer(self, part: PartId, scope: Scope, exchange: RelayedExchange) -> None:
        owner = await self._owners.address(part)
        if owner != "":
            try:
                await self._pass_on(owner, scope, exchange)
                return
            except OwnerUnreachable:
                logger.warning("%s %s is answered here: the owner of %s can't be reached", *_name(scope), part)
        self._count("answered_here")
        await self._app(dict(scope), exchange.replay(), exchange.pass_through)

    def _unreachable(self) -> JSONResponse:
        message = "the Host that answers this can't be reached from here, or is changing; ask again in a moment"
        response = self._responses.build(Problem(503, "stopping", message, {"retry_after": 1}))
        response.headers["retry-after"] = "1"
        return response

    def _client(self) -> ClientSession:
        if self._session is None:
            timeout = ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=SILENT_SECONDS)
            connector = TCPConnector(limit=0)
            self._session = ClientSession(
                connector=connector, timeout=timeout, cookie_jar=DummyCookieJar(), auto_decompress=False
            )
        return self._session

    async def _pass_on(self, owner: str | None, scope: Scope, exchange: RelayedExchange) -> None:
        """Passes a request to its owner. Raises OwnerUnreachable if nothing of it has reached the owner."""
        if owner is None:
            raise OwnerUnreachable
        if scope["type"] == "websocket":
            await self._pipe(owner, scope, exchange)
            return
        body = await exchange.read_body()
        if body is None:
            problem = Problem(413, "too_large", f"the body has more than {self._body_bytes} bytes")
            await self._responses.build(problem)(scope, exchange.receive, exchange.pass_through)
        else:
            await _until_first(self._relay(owner, scope, body, exchange), _gone(exchange.receive_next))

    async def _relay(self, owner: str, scope: Scope, body: bytes, exchange: RelayedExchange) -> None:
        begun = False
        try:
            async with self._client().request(
                scope["method"], _url(owner, scope), headers=_headers(scope), data=body, allow_redirects=False
            ) as answer:
                headers = [(name.lower(), value) for name, value in answer.raw_headers]
                kept = [each for each in headers if each[0] not in _HOP_HEADERS]
                begun = True
                self._count("relayed")
                await exchange.pass_through({"type": "http.response.start", "status": answer.status, "headers": kept})
                async for chunk in answer.content.iter_chunked(CHUNK_BYTES):
                    await exchange.pass_through({"type": "http.response.body", "body": chunk, "more_body": True})
                await exchange.pass_through({"type": "http.response.body", "body": b""})
        except (aiohttp.ClientError, TimeoutError) as error:
            logger.warning("a request could not be passed to the Host at %s: %s", owner, error)
            if begun:
                raise
            if _never_arrived(error):
                raise OwnerUnreachable from error
            await self._unreachable()(scope, exchange.receive, exchange.pass_through)

    async def _pipe(self, owner: str, scope: Scope, exchange: RelayedExchange) -> None:
        await exchange.receive_first()  # the request to connect
        try:
            async with self._connected(owner, scope) as socket:
                self._count("relayed")
                await exchange.pass_through({"type": "websocket.accept", "subprotocol": socket.protocol})
                towards = asyncio.create_task(_from_client(exchange.receive_next, socket))
                try:
                    await _to_client(socket, exchange.pass_through)
                finally:
                    towards.cancel()
                    with suppress(asyncio.CancelledError, aiohttp.ClientError, ConnectionError):
                        await towards
        except aiohttp.WSServerHandshakeError as refusal:
            logger.info("the Host at %s refused a WebSocket with status %d", owner, refusal.status)
            await exchange.pass_through({"type": "websocket.close", "code": 1008})

    @asynccontextmanager
    async def _connected(self, owner: str, scope: Scope) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        protocols = scope.get("subprotocols", ())
        opening = self._client().ws_connect(
            _url(owner, scope), headers=_headers(scope), protocols=protocols, max_msg_size=0, heartbeat=PING_SECONDS
        )
        try:
            socket = await opening
        except aiohttp.WSServerHandshakeError:
            raise
        except (aiohttp.ClientError, TimeoutError) as error:
            logger.warning("a WebSocket could not be passed to the Host at %s: %s", owner, error)
            raise OwnerUnreachable from error
        async with socket:
            yield socket


def _name(scope: Scope) -> tuple[str, str]:
    return scope.get("method", "WebSocket"), scope["path"]


def _never_arrived(error: Exception) -> bool:
    """Returns whether the owner can't have read anything of a request that failed."""
    return isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)


def _url(owner: str, scope: Scope) -> URL:
    """Returns the address with the bytes of the client: a platform may have signed them."""
    path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
    query = scope.get("query_string", b"").decode("latin-1")
    return URL(f"{owner.rstrip('/')}{path}{'?' + query if query else ''}", encoded=True)


def _headers(scope: Scope) -> list[tuple[str, str]]:
    client = scope["client"][0] if scope.get("client") else ""
    is_socket = scope["type"] == "websocket"
    kept = [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, value in scope["headers"]
        if name not in _HOP_HEADERS and not (is_socket and name.startswith(b"sec-websocket"))
    ]
    return [*kept, (RELAYED.decode(), "1"), ("x-forwarded-for", client)]


async def _until_first(relaying: Coroutine[Any, Any, None], leaving: Coroutine[Any, Any, None]) -> None:
    """Relays an answer until its end. It is cancelled if the client leaves, so that the owner notices."""
    tasks = asyncio.ensure_future(relaying), asyncio.ensure_future(leaving)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            if not task.done():
                task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    if isinstance(results[0], Exception):
        raise results[0]


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _from_client(receive: Receive, socket: aiohttp.ClientWebSocketResponse) -> None:
    while (message := await receive())["type"] == "websocket.receive":
        text = message.get("text")
        sending: Awaitable[None] = socket.send_str(text) if text is not None else socket.send_bytes(message["bytes"])
        await sending
    await socket.close()


async def _to_client(socket: aiohttp.ClientWebSocketResponse, send: Send) -> None:
    async for message in socket:
        if message.type is WSMsgType.TEXT:
            await send({"type": "websocket.send", "text": message.data})
        elif message.type is WSMsgType.BINARY:
            await send({"type": "websocket.send", "bytes": message.data})
    code = socket.close_code or RESTARTED_CLOSE_CODE
    is_lost = code in _UNSENDABLE_CLOSE_CODES
    with suppress(RuntimeError):  # the client has closed it
        await send({"type": "websocket.close", "code": RESTARTED_CLOSE_CODE if is_lost else code})
