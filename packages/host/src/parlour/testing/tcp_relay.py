"""A relay between an adapter and a real server that breaks connections as a network does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

CHUNK_BYTES = 64 * 1024


class TcpRelay:
    """Passes bytes on unchanged, until it is told to break the connections."""

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._writers: set[asyncio.StreamWriter] = set()
        self._sockets: set[asyncio.StreamWriter] = set()
        self.turned_away = 0
        """Number of the next connections that are closed at once."""

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[int]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            self.cut()

    def cut(self) -> None:
        """Breaks every open connection."""
        for writer in list(self._writers):
            writer.transport.abort()

    def cut_sockets(self) -> None:
        """Breaks the WebSockets; answers to calls still arrive."""
        for writer in list(self._sockets):
            writer.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.turned_away:
            self.turned_away -= 1
            writer.transport.abort()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        own = {writer, far_writer}
        self._writers |= own
        try:
            head = await reader.read(CHUNK_BYTES)
            if b"upgrade: websocket" in head.lower():
                self._sockets |= own
            far_writer.write(head)
            await asyncio.gather(_pass_on(reader, far_writer), _pass_on(far_reader, writer))
        finally:
            self._writers -= own
            self._sockets -= own
            for each in own:
                each.transport.abort()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while chunk := await reader.read(CHUNK_BYTES):
            writer.write(chunk)
            await writer.drain()
    writer.close()
