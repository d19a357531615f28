"""Passes requests that only the owner of a part can answer to that Host.

In a cluster a platform may call any Host, and so may a person who cancels a run or decides an approval. The request is
sent on as it is, with its credentials. It is sent on once: the owner answers it, or says that it has moved.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any, Final

import aiohttp
from aiohttp import ClientSession, ClientTimeout, WSMsgType
from starlette.responses import JSONResponse
from yarl import URL

from .body_limit import AsgiApp, Receive, Send
from .errors import ErrorResponses, Problem

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
FindOwner = Callable[[str, str], Awaitable[str | None]]
"""Returns the address of the Host that owns what a request is about, by its method and path. Empty: this Host answers.
None: the owner is not known or can't be reached."""

RELAYED: Final = b"x-parlour-relayed"
"""Header of a request that another Host has sent on."""
RELAY_SECONDS: Final = 120.0
CHUNK_BYTES: Final = 64 * 1024
_HOP_HEADERS: Final = frozenset(
    (b"connection", b"keep-alive", b"transfer-encoding", b"te", b"trailer", b"upgrade", b"content-length", RELAYED)
)


class OwnerRelay:
    """ASGI application that answers what this Host owns, and relays the rest."""

    def __init__(self, app: AsgiApp, find_owner: FindOwner, responses: ErrorResponses, body_bytes: int) -> None:
        self._app = app
        self._find_owner = find_owner
        self._responses = responses
        self._body_bytes = body_bytes
        self._session: ClientSession | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_relayed = any(name == RELAYED for name, _ in scope.get("headers", ()))
        if is_relayed or scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        owner = await self._find_owner(scope.get("method", "WEBSOCKET"), scope["path"])
        if owner == "":
            await self._app(scope, receive, send)
        elif owner is None:
            await self._unreachable()(scope, receive, send)
        elif scope["type"] == "http":
            await self._relay(owner, scope, receive, send)
        else:
            await self._pipe(owner, scope, receive, send)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _unreachable(self) -> JSONResponse:
        message = "the Host that answers this can't be reached from here, or is changing; ask again in a moment"
        response = self._responses.build(Problem(503, "stopping", message, {"retry_after": 1}))
        response.headers["retry-after"] = "1"
        return response

    def _client(self) -> ClientSession:
        if self._session is None:
            self._session = ClientSession(timeout=ClientTimeout(total=RELAY_SECONDS, connect=2), auto_decompress=False)
        return self._session

    async def _relay(self, owner: str, scope: Scope, receive: Receive, send: Send) -> None:
        body = await self._read(receive)
        if body is None:
            problem = Problem(413, "too_large", f"the body has more than {self._body_bytes} bytes")
            await self._responses.build(problem)(scope, receive, send)
            return
        begun = False
        try:
            async with self._client().request(
                scope["method"], _url(owner, scope), headers=_headers(scope), data=body, allow_redirects=False
            ) as answer:
                headers = [(name.lower(), value) for name, value in answer.raw_headers]
                kept = [each for each in headers if each[0] not in _HOP_HEADERS]
                await send({"type": "http.response.start", "status": answer.status, "headers": kept})
                begun = True
                async for chunk in answer.content.iter_chunked(CHUNK_BYTES):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                await send({"type": "http.response.body", "body": b""})
        except (aiohttp.ClientError, TimeoutError) as error:
            logger.warning("a request could not be passed to the Host at %s: %s", owner, error)
            if begun:
                raise
            await self._unreachable()(scope, receive, send)

    async def _read(self, receive: Receive) -> bytes | None:
        """Returns the body; None if it is too large."""
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._body_bytes:
                return None
            if not message.get("more_body"):
                return b"".join(parts)

    async def _pipe(self, owner: str, scope: Scope, receive: Receive, send: Send) -> None:
        protocols = scope.get("subprotocols", ())
        await receive()  # the request to connect
        try:
            async with self._client().ws_connect(
                _url(owner, scope), headers=_headers(scope), protocols=protocols, max_msg_size=0
            ) as socket:
                await send({"type": "websocket.accept", "subprotocol": socket.protocol})
                towards = asyncio.create_task(_from_client(receive, socket))
                try:
                    await _to_client(socket, send)
                finally:
                    towards.cancel()
                    with suppress(asyncio.CancelledError, aiohttp.ClientError, ConnectionError):
                        await towards
        except (aiohttp.ClientError, TimeoutError) as error:
            logger.warning("a WebSocket could not be passed to the Host at %s: %s", owner, error)
            with suppress(RuntimeError):  # it is closed already
                await send({"type": "websocket.close", "code": 1012})


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


async def _from_client(receive: Receive, socket: aiohttp.ClientWebSocketResponse) -> None:
    while (message := await receive())["type"] == "websocket.receive":
        text = message.get("text")
        await (socket.send_str(text) if text is not None else socket.send_bytes(message["bytes"]))
    await socket.close()


async def _to_client(socket: aiohttp.ClientWebSocketResponse, send: Send) -> None:
    async for message in socket:
        if message.type is WSMsgType.TEXT:
            await send({"type": "websocket.send", "text": message.data})
        elif message.type is WSMsgType.BINARY:
            await send({"type": "websocket.send", "bytes": message.data})
    with suppress(RuntimeError):  # the client has closed it
        await send({"type": "websocket.close", "code": socket.close_code or 1000})
