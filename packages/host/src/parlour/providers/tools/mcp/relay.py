"""Transport to a server whose lines another process relays: the Host, which has it in a sandbox of the Box."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.shared.message import SessionMessage

from .errors import TransportProblem
from .stdio import MAX_LINE_BYTES, Incoming, Streams, parse_message


class Relay:
    """The lines of one server, in both directions."""

    def __init__(self, send_line: Callable[[str], None], problem: TransportProblem) -> None:
        self._send_line = send_line
        self._problem = problem
        self._to_client, self.incoming = anyio.create_memory_object_stream[Incoming](0)
        self._buffer = b""

    async def feed(self, data: bytes) -> None:
        """Takes what the server has written."""
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        if len(self._buffer) > MAX_LINE_BYTES:
            await self.end(f"it sent a line of more than {MAX_LINE_BYTES} bytes")
            return
        try:
            for line in lines:
                if line.strip():
                    await self._to_client.send(parse_message(line))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the client has left

    async def end(self, reason: str) -> None:
        """Ends the connection with the reason."""
        self._problem.record(reason)
        await self._to_client.aclose()

    async def write(self, from_client: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Sends the messages of the client."""
        async with from_client:
            async for message in from_client:
                self._send_line(message.message.model_dump_json(by_alias=True, exclude_unset=True))


@asynccontextmanager
async def relayed(relay: Relay) -> AsyncIterator[Streams]:
    """Yields the streams of a relay."""
    outgoing, from_client = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(relay.write, from_client)
        try:
            yield relay.incoming, outgoing
        finally:
            tasks.cancel_scope.cancel()
