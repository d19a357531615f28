"""HTTP connection pool of one provider, on aiohttp, which is imported with the first one.

A failed attempt raises ModelCallFailure; whether to repeat it is decided by the caller.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from parlour.core.addresses import authority
from parlour.version import VERSION

from .errors import ModelCallFailure
from .timeouts import ModelTimeouts

DRAIN_TIMEOUT_SECONDS = 1.0
HEADERS = {"User-Agent": f"Parlour/{VERSION}", "Content-Type": "application/json", "Accept-Encoding": "identity"}


class HttpExchange:
    """One request and its response, read in blocks. Closing it early cancels the request."""

    def __init__(
        self, response: aiohttp.ClientResponse, timeouts: ModelTimeouts, started_at: float, wait: float
    ) -> None:
        self._response = response
        self._timeouts = timeouts
        self._deadline = started_at + timeouts.total
        self._next = started_at + wait
        self._received_bytes = 0

    @property
    def status(self) -> int:
        return self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._response.headers

    def close(self) -> None:
        self._response.close()

    async def read_block(self) -> bytes:
        """Returns the next block; empty at the end.

        Raises ModelCallFailure if the response stalls, breaks off or is too long.
        """
        content, loop = self._response.content, asyncio.get_running_loop()
        if content.at_eof():
            return b""
        started_at, deadline = loop.time(), min(self._next, self._deadline)
        try:
            async with asyncio.timeout_at(deadline):
                block: bytes = await content.readany()
        except TimeoutError as error:
            raise self._timeout_failure(deadline - started_at) from error
        except (aiohttp.ClientError, OSError) as error:
            raise ModelCallFailure("stream_cut", "broke its answer off in the middle") from error
        self._next = loop.time() + self._timeouts.stall
        self._received_bytes += len(block)
        if self._received_bytes > self._timeouts.answer_bytes:
            message = f"gave an answer of more than {self._timeouts.answer_bytes:,} bytes, which was ended there"
            raise ModelCallFailure("answer_too_large", message)
        return block

    async def drain(self) -> None:
        """Waits briefly for the end of a complete response, so that its connection can be reused."""
        with contextlib.suppress(TimeoutError, aiohttp.ClientError, OSError):
            async with asyncio.timeout(DRAIN_TIMEOUT_SECONDS):
                await self._response.content.readany()

    async def read_all(self, limit: int | None = None) -> bytes:
        """Returns the whole response, or its beginning up to the limit."""
        content = bytearray()
        while block := await self.read_block():
            content += block
            if limit is not None and len(content) >= limit:
                break
        return bytes(content[:limit])

    def _timeout_failure(self, elapsed: float) -> ModelCallFailure:
        if asyncio.get_running_loop().time() >= self._deadline:
            return ModelCallFailure(
                "provider_timeout", f"was not done with its answer after {self._timeouts.total:g} s"
            )
        return ModelCallFailure("provider_timeout", f"went silent for {max(elapsed, 0):.3g} s in its answer")


class ProviderConnection:
    """Connection pool to one base URL."""

    def __init__(self, base_url: str, timeouts: ModelTimeouts) -> None:
        self._base_url = base_url
        self._timeouts = timeouts
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=60, keepalive_timeout=60),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, connect=timeouts.connect, sock_connect=timeouts.connect),
            proxy=_proxy(base_url),
            headers=HEADERS,
        )

    async def close(self) -> None:
        await self._session.close()

    async def post(self, path: str, headers: Mapping[str, str], body: bytes, wait: float) -> HttpExchange:
        """Sends a request.

        `wait` is the time until the response must begin. Raises ModelCallFailure if there is none.
        """
        timeouts, started_at = self._timeouts, asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(wait):
                response = await self._session.post(
                    self._base_url + path, data=body, headers=headers, allow_redirects=False
                )
        except aiohttp.ConnectionTimeoutError as error:
            raise self._unreachable("it does not answer") from error
        except TimeoutError as error:
            message = f"did not begin to answer within {wait:g} s"
            raise ModelCallFailure("provider_timeout", message, retryable=True) from error
        except aiohttp.ClientConnectorError as error:
            raise self._unreachable(_reason(error)) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            message = f"broke the connection off before it answered ({type(error).__name__})"
            raise ModelCallFailure("provider_unreachable", message, retryable=True) from error
        return HttpExchange(response, timeouts, started_at, wait)

    def _unreachable(self, reason: str) -> ModelCallFailure:
        parts = urlsplit(self._base_url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        message = f"can't be reached at {parts.scheme}://{authority(parts.hostname or '', port)}: {reason}"
        return ModelCallFailure("provider_unreachable", message, retryable=True)


def _reason(error: aiohttp.ClientConnectorError) -> str:
    match error:
        case aiohttp.ClientConnectorDNSError():
            return "there is no such host"
        case aiohttp.ClientConnectorCertificateError():
            return "its certificate is not trusted"
        case aiohttp.ClientSSLError():
            return "it does not speak TLS as it should"
        case _:
            return error.strerror or "nobody listens there"


def _proxy(url: str) -> str | None:
    """Returns the proxy of the environment, read once: reading it per request would cost more than the request."""
    parts = urlsplit(url)
    proxy = getproxies().get(parts.scheme)
    return None if proxy is None or proxy_bypass(parts.netloc) else proxy
