"""Provides a WebSocket endpoint that a test controls frame by frame, over plain TCP."""

import asyncio
import base64
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from websockets.frames import Close, Frame, Opcode
from websockets.utils import accept_key

from .support import TOKEN, within

Answer = Callable[["RawWebSocket"], Awaitable[None]]


class RawWebSocket:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_client: bool) -> None:
        self.reader = reader
        self.writer = writer
        self._is_client = is_client

    def send(self, opcode: Opcode, data: bytes = b"", fin: bool = True) -> None:
        self.writer.write(self.frame(opcode, data, fin))

    def frame(self, opcode: Opcode, data: bytes = b"", fin: bool = True) -> bytes:
        return Frame(opcode, data, fin).serialize(mask=self._is_client)

    def send_text(self, data: bytes) -> None:
        self.send(Opcode.TEXT, data)

    def send_close(self, code: int, reason: str) -> None:
        self.send(Opcode.CLOSE, Close(code, reason).serialize())

    async def request(self) -> bytes:
        return await within(self.reader.readuntil(b"\r\n\r\n"))

    async def receive(self) -> tuple[Opcode, bytes]:
        """Returns the next frame without its mask."""
        return await within(self._receive())

    async def close_frame(self) -> Close:
        """Returns the content of the close frame, which comes last."""
        while (received := await self.receive())[0] is not Opcode.CLOSE:
            pass
        return Close.parse(received[1])

    async def end(self) -> bytes:
        """Returns the remaining bytes until the other side closes the TCP connection."""
        return await within(self.reader.read())

    async def close(self) -> None:
        self.writer.transport.abort()
        await asyncio.gather(self.writer.wait_closed(), return_exceptions=True)

    async def _receive(self) -> tuple[Opcode, bytes]:
        first, second = await self.reader.readexactly(2)
        size = second & 127
        if size >= 126:
            size = int.from_bytes(await self.reader.readexactly(2 if size == 126 else 8))
        mask = await self.reader.readexactly(4) if second & 128 else bytes(4)
        data = await self.reader.readexactly(size)
        return Opcode(first & 15), bytes(byte ^ mask[index % 4] for index, byte in enumerate(data))


def upgrade_request(*headers: str, path: str = "/control") -> bytes:
    key = base64.b64encode(os.urandom(16)).decode()
    lines = [
        f"GET {path} HTTP/1.1",
        "Host: 127.0.0.1",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {key}",
        "Sec-WebSocket-Version: 13",
        *headers,
    ]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode()


@asynccontextmanager
async def tcp_connection(port: int) -> AsyncIterator[RawWebSocket]:
    """Opens a TCP connection to the port and sends nothing."""
    websocket = RawWebSocket(*await within(asyncio.open_connection("127.0.0.1", port)), is_client=True)
    yield websocket
    await websocket.close()


@asynccontextmanager
async def raw_client(port: int) -> AsyncIterator[RawWebSocket]:
    async with tcp_connection(port) as websocket:
        websocket.writer.write(upgrade_request(f"Authorization: Bearer {TOKEN}"))
        assert b" 101 " in await within(websocket.reader.readuntil(b"\r\n\r\n"))
        yield websocket


@asynccontextmanager
async def raw_server(answer: Answer) -> AsyncIterator[int]:
    """Runs a TCP server that passes its connections to `answer`, and yields its port."""
    websockets: list[RawWebSocket] = []

    async def on_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        websocket = RawWebSocket(reader, writer, is_client=False)
        websockets.append(websocket)
        await answer(websocket)

    server = await asyncio.start_server(on_connection, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()
    for websocket in websockets:
        await websocket.close()


async def accept(websocket: RawWebSocket) -> None:
    lines = (await websocket.request()).decode().split("\r\n")
    key = next(line for line in lines if line.startswith("Sec-WebSocket-Key: "))
    websocket.writer.write(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + f"Sec-WebSocket-Accept: {accept_key(key.partition(': ')[2])}\r\n\r\n".encode()
    )
