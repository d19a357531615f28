"""Stands between a journal and its server, and can lose what one says to the other."""

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
        self.loses_questions = False
        self.loses_answers = False
        self.questions = asyncio.Event()
        """Set when a question was lost."""

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
        """Takes no connection any more."""
        self._server.close()

    def cut(self) -> None:
        """Ends every connection, and loses nothing of the next ones."""
        self.loses_questions = self.loses_answers = False
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(str(self._socket))
        self._writers += (writer, far_writer)
        for each in (self._ask(reader, far_writer), self._answer(far_reader, writer)):
            task = asyncio.ensure_future(each)
            self._tasks.add(task)

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while content := await reader.read(65536):
                if self.loses_questions:
                    self.questions.set()
                else:
                    writer.write(content)
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while content := await reader.read(65536):
                if not self.loses_answers:
                    writer.write(content)
        writer.close()
