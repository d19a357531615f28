"""HTTP client of the MCP transports: it limits the size of responses and records what went wrong."""

from collections.abc import AsyncIterator
from http import HTTPStatus

import httpx2

from .errors import ATTEMPT, Attempt, TransportProblem

MAX_RESPONSE_BYTES = 8 * 1024 * 1024
CONNECT_SECONDS = 30
READ_SECONDS = 300
"""Read timeout in seconds. A server may hold its response back as long as a tool runs; the registry limits that."""
STREAM = "text/event-stream"
HINTS = {401: "; check the headers", 403: "; check the headers", 404: "; check the address", 405: "; check the address"}


class ObservingTransport(httpx2.AsyncBaseTransport):
    """Transport that records problems and limits response sizes."""

    def __init__(self, trouble: TransportProblem) -> None:
        self._inner = httpx2.AsyncHTTPTransport()
        self._trouble = trouble

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        attempt = ATTEMPT.get(None) or Attempt()
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.ConnectError as error:
            attempt.refused = True
            self._trouble.record(f"{request.url.host} can't be reached: {error}")
            raise
        except httpx2.TransportError as error:
            attempt.reached = True
            self._trouble.record(f"{request.url.host} broke the connection off: {error or type(error).__name__}")
            raise
        attempt.record_response(response.status_code)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.status_code >= 400:
            self._trouble.record(_refusal(response.status_code))
        elif kind == "text/html":
            self._trouble.record("it answers with a web page, not as an MCP server; check the address")
        if kind != STREAM:
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _SizeLimitedStream(response.stream, self._trouble)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _SizeLimitedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, trouble: TransportProblem) -> None:
        self._inner = inner
        self._trouble = trouble

    async def __aiter__(self) -> AsyncIterator[bytes]:
        room = MAX_RESPONSE_BYTES
        async for piece in self._inner:
            room -= len(piece)
            if room < 0:
                words = f"it answered with more than {MAX_RESPONSE_BYTES} bytes at once"
                self._trouble.record(words)
                raise httpx2.ReadError(words)
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


def http_client(headers: dict[str, str], trouble: TransportProblem) -> httpx2.AsyncClient:
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=READ_SECONDS)
    return httpx2.AsyncClient(headers=headers, timeout=timeout, transport=ObservingTransport(trouble))


def _refusal(status: int) -> str:
    try:
        reason = f" {HTTPStatus(status).phrase}"
    except ValueError:
        reason = ""
    return f"it answered {status}{reason}{HINTS.get(status, '')}"
