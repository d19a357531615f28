"""The connection to an agent in a sandbox of E2B: lines on the standard input and output of a command there."""

import asyncio
import contextlib
import importlib
import struct
from collections.abc import Callable
from typing import Any

from ..agent_channel import AgentChannel
from ..backend import Fields
from ..errors import BoxError

HEADER_BYTES = 4


def library_failures() -> tuple[type[Exception], ...]:
    """Returns the errors of calls to the library, of the HTTP libraries that it passes on, and of wrong answers."""
    e2b, httpx, pyqwest = (importlib.import_module(name) for name in ("e2b", "httpx", "pyqwest"))
    own = (e2b.SandboxException, httpx.HTTPError, pyqwest.ReadError, pyqwest.WriteError, pyqwest.StreamError)
    return (*own, OSError, TimeoutError, BoxError, ValueError)


class LineWriter(asyncio.WriteTransport):
    """Passes messages on as lines, one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: asyncio.Queue[bytes] = asyncio.Queue()

    def write(self, data: Any) -> None:
        self.lines.put_nowait(bytes(data)[HEADER_BYTES:] + b"\n")

    def close(self) -> None:
        """Has nothing to close: the command is ended with its sandbox."""


class E2bChannel:
    """Messages to and from the agent."""

    def __init__(self, remote: Any, on_event: Callable[[Fields], None]) -> None:
        self._remote = remote
        self._writer = LineWriter()
        self._received = ""
        self._tasks: list[asyncio.Task[None]] = []
        self._handle: Any = None
        self.messages = AgentChannel.through(self._writer, on_event)

    @classmethod
    async def open(
        cls, remote: Any, command: str, environment: dict[str, str], on_event: Callable[[Fields], None]
    ) -> "E2bChannel":
        """Starts the command of an agent, and passes messages on until it ends."""
        channel = cls(remote, on_event)
        options = {"background": True, "stdin": True, "timeout": 0, "retain_output": False}
        channel._handle = await remote.commands.run(
            command, envs=environment, cwd=environment["HOME"], on_stdout=channel._receive, **options
        )
        channel._tasks = [asyncio.create_task(channel._send()), asyncio.create_task(channel._watch())]
        return channel

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        self.messages.close()
        if self._handle is not None:
            with contextlib.suppress(*library_failures()):  # it may have ended
                await self._handle.kill()

    def _receive(self, text: str) -> None:
        *lines, self._received = (self._received + text).split("\n")
        for line in filter(None, lines):
            content = line.encode()
            self.messages.data_received(struct.pack("!I", len(content)) + content)

    async def _send(self) -> None:
        with contextlib.suppress(*library_failures()):
            while True:
                line = await self._writer.lines.get()
                await self._remote.commands.send_stdin(self._handle.pid, line)
        self.messages.close()

    async def _watch(self) -> None:
        """Ends the channel with its command."""
        with contextlib.suppress(*library_failures()):  # each exit status but 0 is one, too
            await self._handle.wait()
        self.messages.close()
