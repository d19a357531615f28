"""The three transports to a server, in the form that the client library expects. The end of each is detected."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any, Self

import httpx2
from mcp.client._transport import ReadStream, TransportStreams
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from .endpoint import McpEndpoint
from .errors import TransportProblem
from .http import CONNECT_SECONDS, MAX_RESPONSE_BYTES, READ_SECONDS, http_client
from .relay import Relay, relayed
from .stdio import stdio

Incoming = SessionMessage | Exception


@asynccontextmanager
async def transport(
    target: McpEndpoint, problem: TransportProblem, relay: Relay | None = None
) -> AsyncIterator[TransportStreams]:
    """Connects to a server; to one in the Box by its relay."""
    streams = relayed(relay) if relay is not None else _streams(target, problem)
    async with streams as (incoming, outgoing):
        yield _EndDetectingStream(incoming, problem), outgoing


def _streams(target: McpEndpoint, problem: TransportProblem) -> AbstractAsyncContextManager[TransportStreams]:
    match target.transport:
        case "http":
            return _streamable_http(target, problem)
        case "sse":
            return _sse(target, problem)
        case "stdio":
            return stdio(target, problem)


@asynccontextmanager
async def _streamable_http(target: McpEndpoint, problem: TransportProblem) -> AsyncIterator[TransportStreams]:
    async with (
        http_client(dict(target.headers), problem) as client,
        streamable_http_client(target.url, http_client=client, max_sse_event_size=MAX_RESPONSE_BYTES) as streams,
    ):
        yield streams


def _sse(target: McpEndpoint, problem: TransportProblem) -> AbstractAsyncContextManager[TransportStreams]:
    def client(
        headers: dict[str, str] | None = None, timeout: Any = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        return http_client(headers or {}, problem)

    return sse_client(
        target.url,
        headers=dict(target.headers),
        timeout=CONNECT_SECONDS,
        sse_read_timeout=READ_SECONDS,
        httpx_client_factory=client,
    )


class _EndDetectingStream:
    """Stream of messages from a server. The client library does not report its end, so it is detected here."""

    def __init__(self, stream: ReadStream[Incoming], problem: TransportProblem) -> None:
        self._wrapped = stream
        self._problem = problem

    @property
    def last_context(self) -> Any:
        return getattr(self._wrapped, "last_context", None)

    async def receive(self) -> Incoming:
        return await self._wrapped.receive()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Incoming:
        try:
            return await self._wrapped.__anext__()
        except StopAsyncIteration:
            self._problem.closed.set()
            raise

    async def aclose(self) -> None:
        await self._wrapped.aclose()

    async def __aenter__(self) -> Self:
        await self._wrapped.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._wrapped.__aexit__(kind, error, trace)
