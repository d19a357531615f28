"""A proxy between a journal and its server that can drop requests and responses."""

import asyncio
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self


class Proxy:
    """Use as `async with Proxy(socket) as proxy`; it listens on a port of its own."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self.drops_requests = False
        self.drops_responses = False
        self.request_dropped = asyncio.Event()
        """Set when a request was dropped."""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.close()
        self.cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def refuse(self) -> None:
        """Stops accepting connections."""
        self._server.close()

    def cut(self) -> None:
        """Ends every connection and stops dropping data."""
        self.drops_requests = self.drops_responses = False
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(str(self._socket))
        self._writers += (writer, far_writer)
        for each in (self._relay_requests(reader, far_writer), self._relay_responses(far_reader, writer)):
            task = asyncio.ensure_future(each)
            self._tasks.add(task)

    async def _relay_requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while content := await reader.read(65536):
                if self.drops_requests:
                    self.request_dropped.set()
                else:
                    writer.write(content)
        writer.close()

    async def _relay_responses(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while content := await reader.read(65536):
                if not self.drops_responses:
                    writer.write(content)
        writer.close()
