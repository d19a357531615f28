"""HTTP client for platform APIs: base address, bodies, limits, proxies, and errors of the platform port.

A message names the call and the platform, never an address or header: both may contain a token.
"""

import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import field
from typing import Any

import aiohttp

from parlour.core.encoding import dumps
from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.network.http_session import ProxyFailed, ProxySession, connection_error_reason
from parlour.network.proxies import InvalidProxy, ProxySettings
from parlour_sdk.values import dataclass

from .json_frames import FrameUnreadable, read_frame
from .retry_after import retry_after_seconds
from .unreachable import OFFLINE_RETRY_SECONDS, PlatformUnreachable

RESPONSE_TIMEOUT_SECONDS = 30.0
TRANSFER_TIMEOUT_SECONDS = 55.0
"""Seconds for a call with files; less than delivery waits for a send."""
CONNECT_TIMEOUT_SECONDS = 10.0
DEFAULT_RETRY_SECONDS = 5.0
"""Seconds to wait if the platform limits the rate without saying for how long."""
MAX_RESPONSE_BYTES = 64 * 1024 * 1024
CHUNK_BYTES = 64 * 1024
GATEWAY_ERROR_STATUSES = (502, 503, 504)
"""HTTP statuses of a gateway whose server is offline."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that is sent as a part of a multipart body."""

    name: str
    data: bytes
    filename: str
    mime_type: str


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request to a platform. At most one of `json`, `form` with `uploads`, and `data` is its body."""

    method: str
    path: str = field(repr=False)
    """The path below the base address with everything quoted, or a whole address of the same platform."""
    label: str
    """The name of the call in messages."""
    json: Any = field(default=None, repr=False)
    form: Mapping[str, Any] = field(default_factory=dict, repr=False)
    uploads: Sequence[Upload] = field(default=(), repr=False)
    data: bytes | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    query: Mapping[str, str | int] = field(default_factory=dict, repr=False)
    seconds: float = RESPONSE_TIMEOUT_SECONDS
    max_bytes: int = MAX_RESPONSE_BYTES
    follow_redirects: bool = False

    @property
    def is_repeatable(self) -> bool:
        """True if sending it twice has the same effect as sending it once."""
        return self.method in ("GET", "HEAD", "PUT", "DELETE")


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """A complete response."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    def read_json(self) -> Any:
        """Returns the body as JSON of any kind, or None if it is something else."""
        try:
            return read_frame(b'{"value":' + self.body + b"}")["value"]
        except FrameUnreadable:
            return None

    def read_object(self) -> dict[str, Any] | None:
        """Returns the body as a JSON object, or None if it is something else."""
        try:
            return read_frame(self.body)
        except FrameUnreadable:
            return None


class PlatformHttpClient:
    """Sends requests to one platform. `service` is its name in messages."""

    def __init__(self, service: str, base_url: str, proxies: ProxySettings) -> None:
        self._service = service
        self._base = base_url.rstrip("/")
        self._proxies = proxies
        self._session: ProxySession | None = None

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[None]:
        """Keeps the connections open. Requests outside of it raise PlatformOffline."""
        self._session = session = ProxySession(self._proxies)
        try:
            yield
        finally:
            self._session = None
            await session.close()

    async def send(self, request: ApiRequest) -> ApiResponse:
        """Sends a request and returns its response, whatever its status is.

        Raises PlatformOffline if nothing was sent, PlatformRefused if the response is too large, and PlatformUncertain
        if there is none.
        """
        if self._session is None:
            raise self._offline(f"the bot is not connected to {self._service}")
        url = request.path if "://" in request.path else self._base + request.path
        try:
            return await self._exchange(self._session, url, request)
        except (InvalidProxy, aiohttp.InvalidURL) as error:
            reason = str(error) if isinstance(error, InvalidProxy) else "its address can't be used"
            raise self._unreachable(reason) from None
        except (aiohttp.ClientError, OSError) as error:
            raise self._failure(request, error) from None

    async def _exchange(self, session: ProxySession, url: str, request: ApiRequest) -> ApiResponse:
        total = max(request.seconds, TRANSFER_TIMEOUT_SECONDS) if request.uploads else request.seconds
        async with session.request(
            request.method,
            url,
            params=request.query or None,
            headers=request.headers,
            timeout=aiohttp.ClientTimeout(total=total, sock_connect=CONNECT_TIMEOUT_SECONDS),
            allow_redirects=request.follow_redirects,
            **_body(request),
        ) as response:
            return ApiResponse(response.status, response.headers, await self._read(response, request.max_bytes))

    async def _read(self, response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
        content = bytearray()
        async for chunk in response.content.iter_chunked(CHUNK_BYTES):
            content += chunk
            if len(content) > max_bytes:
                raise PlatformRefused(f"it is larger than {max_bytes // 2**20} MiB", permanent=True)
        return bytes(content)

    def _failure(self, request: ApiRequest, error: Exception) -> Exception:
        if isinstance(error, ProxyFailed):
            return self._unreachable(str(error))
        if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError | ssl.SSLError):
            return self._unreachable(connection_error_reason(error))
        if isinstance(error, TimeoutError):
            return PlatformUncertain(f"{self._service} did not answer {request.label} in time")
        return PlatformUncertain(f"the connection was cut before {self._service} answered {request.label}")

    def _unreachable(self, reason: str) -> PlatformUnreachable:
        return PlatformUnreachable(self._service, reason)

    def _offline(self, reason: str) -> PlatformOffline:
        return PlatformOffline(reason, retry_after=OFFLINE_RETRY_SECONDS)


def check_status(
    service: str, request: ApiRequest, response: ApiResponse, explain: Callable[[ApiResponse], str]
) -> ApiResponse:
    """Returns a successful response. Raises the error of any other; `explain` reads its reason from the body.

    A platform whose responses carry their own error codes checks those first.
    """
    status = response.status
    if status < 400:
        return response
    reason = explain(response)[:300] or f"HTTP status {status}"
    if status == 429:
        delay = retry_after_seconds(response.headers, response.read_object())
        raise PlatformRefused(f"{service} refused {request.label}: {reason}", delay or DEFAULT_RETRY_SECONDS)
    if status in GATEWAY_ERROR_STATUSES and request.is_repeatable:
        raise PlatformOffline(f"{service} is offline (HTTP status {status})", retry_after=OFFLINE_RETRY_SECONDS)
    if status >= 500:
        raise PlatformUncertain(f"{service} failed at {request.label}: {reason}")
    raise PlatformRefused(f"{service} refused {request.label}: {reason}", permanent=True)


def _body(request: ApiRequest) -> dict[str, Any]:
    if request.data is not None:
        return {"data": request.data}
    if request.uploads:
        form = aiohttp.FormData(quote_fields=False)  # names of files stay readable, as browsers send them
        for name, value in request.form.items():
            form.add_field(name, _text(value))
        for upload in request.uploads:
            form.add_field(
                upload.name, upload.data, filename=_printable(upload.filename), content_type=upload.mime_type
            )
        return {"data": form}
    if request.form:
        return {"data": {name: _text(value) for name, value in request.form.items()}}
    if request.json is None:
        return {}
    return {"data": aiohttp.BytesPayload(dumps(request.json).encode(), content_type="application/json")}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)


def _printable(filename: str) -> str:
    return "".join(character if character.isprintable() else "_" for character in filename)
