"""Serves OneBot implementations that connect to the Host's own port, below the bot's `/hooks` address."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from websockets.exceptions import ConnectionClosedError
from websockets.frames import Close, CloseCode

from parlour.core.platforms.hooks import HookSocket, SocketClosed

from .accounts import OneBotAccounts
from .admission import Admission, role_of
from .client import CLOSE_TIMEOUT_SECONDS, MAX_FRAME_BYTES, OneBotConnection

ServeConnection = Callable[[OneBotConnection], Awaitable[None]]
STOPPING = 1012


class HostedSockets:
    """Sockets of one bot at the Host's own port."""

    def __init__(self, accounts: OneBotAccounts, admission: Admission, talk: ServeConnection) -> None:
        self._accounts = accounts
        self._admission = admission
        self._talk = talk
        self._open: dict[HookSocket, asyncio.Task[Any]] = {}
        self._closed = False

    async def serve(self, socket: HookSocket) -> None:
        """Authenticates the socket and serves it until it is closed."""
        asked = socket.handshake
        refusal = await self._admission.refusal(asked, token_required=True)
        if refusal is not None:
            await socket.refuse(refusal.status, refusal.sentence)
            return
        if self._closed:
            await socket.refuse(503, "the bot is being stopped")
            return
        role = role_of(asked)
        await socket.accept(MAX_FRAME_BYTES, requires_pongs=role != "event")  # go-cqhttp's event sockets never read
        connection = OneBotConnection(HostedSocket(socket), role)
        task = asyncio.current_task()
        assert task is not None
        self._open[socket] = task
        if account := asked.header("x-self-id"):
            self._accounts.add(account, connection)
        try:
            await self._talk(connection)
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
    sent = Close(CloseCode.MESSAGE_TOO_BIG, "") if closed.too_large else None
    return ConnectionClosedError(None, sent)
