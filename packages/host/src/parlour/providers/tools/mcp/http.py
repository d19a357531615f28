"""HTTP client of the MCP transports: it limits the size of responses and records what went wrong."""

from collections.abc import AsyncIterator
from http import HTTPStatus

import httpx2

from parlour.network.proxies import InvalidProxy, Proxy, ProxySettings

from .errors import ATTEMPT, Attempt, TransportProblem

MAX_RESPONSE_BYTES = 8 * 1024 * 1024
CONNECT_SECONDS = 30
READ_SECONDS = 300
"""Read timeout in seconds. A server may hold its response back as long as a tool runs; the registry limits that."""
STREAM = "text/event-stream"
HINTS = {401: "; check the headers", 403: "; check the headers", 404: "; check the address", 405: "; check the address"}


class ObservingTransport(httpx2.AsyncBaseTransport):
    """Transport that records problems and limits response sizes."""

    def __init__(self, problem: TransportProblem, proxies: ProxySettings) -> None:
        self._proxies = proxies
        self._transports: dict[str, httpx2.AsyncHTTPTransport] = {}
        self._problem = problem

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        attempt = ATTEMPT.get(None) or Attempt()
        through = ""
        try:
            proxy = self._proxies.for_url(str(request.url))
            through = f" through the proxy {proxy.name}" if proxy is not None else ""
            response = await self._transport(proxy).handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ProxyError, InvalidProxy) as error:
            attempt.refused = True
            self._problem.record(f"{request.url.host} can't be reached{through}: {error}")
            if isinstance(error, InvalidProxy):
                raise httpx2.ConnectError(str(error)) from None
            raise
        except httpx2.TransportError as error:
            attempt.reached = True
            self._problem.record(f"{request.url.host} broke the connection off: {error or type(error).__name__}")
            raise
        attempt.record_response(response.status_code)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.status_code >= 400:
            self._problem.record(_refusal(response.status_code))
        elif kind == "text/html":
            self._problem.record("it answers with a web page, not as an MCP server; check the address")
        if kind != STREAM:
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _SizeLimitedStream(response.stream, self._problem)
        return response

    def _transport(self, proxy: Proxy | None) -> httpx2.AsyncHTTPTransport:
        key = proxy.url if proxy is not None else ""
        if key not in self._transports:
            self._transports[key] = httpx2.AsyncHTTPTransport(proxy=key or None)
        return self._transports[key]

    async def aclose(self) -> None:
        for transport in self._transports.values():
            await transport.aclose()


class _SizeLimitedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, problem: TransportProblem) -> None:
        self._wrapped = stream
        self._problem = problem

    async def __aiter__(self) -> AsyncIterator[bytes]:
        remaining = MAX_RESPONSE_BYTES
        async for piece in self._wrapped:
            remaining -= len(piece)
            if remaining < 0:
                reason = f"it answered with more than {MAX_RESPONSE_BYTES} bytes at once"
                self._problem.record(reason)
                raise httpx2.ReadError(reason)
            yield piece

    async def aclose(self) -> None:
        await self._wrapped.aclose()


def http_client(headers: dict[str, str], problem: TransportProblem) -> httpx2.AsyncClient:
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=READ_SECONDS)
    transport = ObservingTransport(problem, ProxySettings.from_environment())
    return httpx2.AsyncClient(headers=headers, timeout=timeout, transport=transport)


def _refusal(status: int) -> str:
    try:
        reason = f" {HTTPStatus(status).phrase}"
    except ValueError:
        reason = ""
    return f"it answered {status}{reason}{HINTS.get(status, '')}"
