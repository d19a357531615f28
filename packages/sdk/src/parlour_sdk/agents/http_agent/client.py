"""HTTP client of one run, on aiohttp. It never follows a redirect with credentials, and bounds what it reads."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import field
from typing import Any
from urllib.parse import urljoin, urlsplit

import aiohttp

from ...values import dataclass
from .config import HttpAgentConfig
from .errors import ServiceFailure, failure_for_status
from .private_addresses import PublicResolver, require_public_literal
from .proxies import find_proxy, is_socks

MAX_JSON_BYTES = 4 * 1024 * 1024
MAX_ERROR_BYTES = 64 * 1024
MAX_REDIRECTS = 3
CALL_TIMEOUT_SECONDS = 30.0
TRANSFER_TIMEOUT_SECONDS = 60.0
DETAIL_FIELDS = ("message", "msg", "error", "detail", "description", "errorMsg", "hint")
"""Fields that services use for the text of an error."""


@dataclass(frozen=True, slots=True)
class ServiceRequest:
    """One request: `path` is relative to the address, or a whole URL of the same origin."""

    path: str
    json: Any = None
    method: str = "POST"
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    """Text fields of a multipart form."""
    files: tuple["FormFile", ...] = ()
    """Files of a multipart form."""


@dataclass(frozen=True, slots=True)
class FormFile:
    """A file of a multipart form."""

    field: str
    name: str
    content: bytes
    mime_type: str | None = None


class ServiceResponse:
    """A response whose body is read block by block."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    @property
    def status(self) -> int:
        return self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._response.headers

    @property
    def cookies(self) -> dict[str, str]:
        """The cookies that the response sets, by their names."""
        return {name: each.value for name, each in self._response.cookies.items()}

    @property
    def content_type(self) -> str:
        return self._response.content_type

    async def read_block(self, deadline: float) -> bytes:
        """Returns the next block, empty at the end; `deadline` is in the loop's time.

        Raises TimeoutError at the deadline, and ServiceFailure if the connection is cut.
        """
        try:
            async with asyncio.timeout_at(deadline):
                block: bytes = await self._response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            raise ServiceFailure("stream_ended", "the connection was cut") from error
        return block

    async def read(self, limit: int, timeout: float = CALL_TIMEOUT_SECONDS) -> bytes:
        """Returns the whole body. Raises ServiceFailure if it is larger than the limit or too slow."""
        body = bytearray()
        deadline = asyncio.get_running_loop().time() + timeout
        try:
            while block := await self.read_block(deadline):
                body += block
                if len(body) > limit:
                    raise ServiceFailure("protocol", f"a response is larger than {limit:,} bytes")
        except TimeoutError:
            raise ServiceFailure("timeout", "a response did not end") from None
        return bytes(body)


class ServiceClient:
    """Sends the requests of one run: `async with ServiceClient(config, headers) as client`."""

    def __init__(self, config: HttpAgentConfig, headers: Mapping[str, str], deadline_at: int | None = None) -> None:
        self._config = config
        self._headers = dict(headers)
        self._deadline_at = deadline_at
        self._proxy = find_proxy(config.base_url, config.proxy.get_secret_value() if config.proxy else None)
        self._session: aiohttp.ClientSession

    async def __aenter__(self) -> "ServiceClient":
        self._session = self._open_session(None)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    @asynccontextmanager
    async def open(self, request: ServiceRequest, timeout: float) -> AsyncIterator[ServiceResponse]:
        """Sends a request and yields its response, whatever its status. Raises ServiceFailure if there is none.

        `timeout` is in seconds and ends when the response begins.
        """
        url = self._same_origin(request.path)
        headers = {**self._headers, **request.headers}
        response = await self._send(self._session, request, url, headers, timeout)
        try:
            yield ServiceResponse(response)
        finally:
            response.close()

    async def call(self, request: ServiceRequest, timeout: float = CALL_TIMEOUT_SECONDS) -> Any:
        """Sends a request and returns its JSON answer, None if it is empty. Raises ServiceFailure for an error."""
        async with self.open(request, timeout) as response:
            await raise_for_status(response)
            body = await response.read(MAX_JSON_BYTES, timeout)
        try:
            return json.loads(body) if body.strip() else None
        except (ValueError, RecursionError):
            raise ServiceFailure("protocol", f"the answer of {request.path} is no JSON") from None

    async def download(self, url: str, limit: int) -> bytes:
        """Downloads a file of the service. Another origin gets no credentials, and must have a public address."""
        url = urljoin(f"{self._config.base_url}/", url)
        for _ in range(MAX_REDIRECTS + 1):
            async with self._open_download(url) as response:
                if 300 <= response.status < 400 and (target := response.headers.get("Location")):
                    url = urljoin(url, target)
                    continue
                await raise_for_status(response)
                return await response.read(limit, TRANSFER_TIMEOUT_SECONDS)
        raise ServiceFailure("protocol", "the address of a file redirects too often")

    def ignore_deadline(self) -> None:
        """Lets the following requests take longer than the run; the stop call needs it."""
        self._deadline_at = None

    def seconds_left(self) -> float:
        """Returns the seconds until the run's deadline; a very large number if it has none."""
        return float("inf") if self._deadline_at is None else max(0.0, self._deadline_at / 1000 - time.time())

    @asynccontextmanager
    async def _open_download(self, url: str) -> AsyncIterator[ServiceResponse]:
        if urlsplit(url).scheme not in ("http", "https"):
            raise ServiceFailure("protocol", "the address of a file is no HTTP address")
        if _origin(url) == _origin(self._config.base_url):
            async with self.open(ServiceRequest(url, method="GET"), TRANSFER_TIMEOUT_SECONDS) as response:
                yield response
            return
        host = urlsplit(url).hostname or ""
        is_trusted = host in self._config.file_hosts or host == urlsplit(self._config.base_url).hostname
        if not is_trusted:
            require_public_literal(host)
        async with self._open_session(None if is_trusted else PublicResolver()) as session:
            request = ServiceRequest(url, method="GET")
            response = ServiceResponse(await self._send(session, request, url, {}, TRANSFER_TIMEOUT_SECONDS))
            yield response

    def _same_origin(self, path: str) -> str:
        if not path:
            return self._config.base_url
        if "://" not in path:
            return f"{self._config.base_url}/{path.lstrip('/')}"
        if _origin(path) != _origin(self._config.base_url):
            raise ServiceFailure("protocol", "the service names an address of another origin")
        return path

    def _open_session(self, resolver: PublicResolver | None) -> aiohttp.ClientSession:
        connect = self._config.connect_timeout
        return aiohttp.ClientSession(
            connector=_connector(self._proxy, resolver),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, connect=connect, sock_connect=connect),
            proxy=None if is_socks(self._proxy) else self._proxy,
        )

    async def _send(
        self,
        session: aiohttp.ClientSession,
        request: ServiceRequest,
        url: str,
        headers: Mapping[str, str],
        timeout: float,
    ) -> aiohttp.ClientResponse:
        body: dict[str, Any] = {"data": _form(request)} if request.files or request.fields else {}
        if request.json is not None:
            body = {"json": request.json}
        try:
            async with asyncio.timeout(min(timeout, self.seconds_left())):
                return await session.request(
                    request.method,
                    url,
                    params=request.query or None,
                    headers=headers,
                    allow_redirects=False,
                    **body,
                )
        except aiohttp.ConnectionTimeoutError as error:
            raise ServiceFailure("unavailable", f"{_place(url)} does not answer") from error
        except TimeoutError as error:
            if not self.seconds_left():
                raise ServiceFailure("deadline") from error
            raise ServiceFailure("timeout", "the answer did not begin") from error
        except aiohttp.ClientConnectorError as error:
            raise ServiceFailure("unavailable", f"{_place(url)}: {_reason(error)}") from error
        except (aiohttp.ClientError, OSError) as error:
            raise ServiceFailure("unavailable", f"{_place(url)}: the connection was cut") from error
        except ValueError as error:
            raise ServiceFailure("config", "the address can't be used") from error
        except Exception as error:
            if not type(error).__module__.startswith(("python_socks", "aiohttp_socks")):
                raise
            raise ServiceFailure("unavailable", "the SOCKS proxy can't be reached or refuses the connection") from error


async def raise_for_status(response: ServiceResponse) -> None:
    """Raises the ServiceFailure of an error status, with the message of the service."""
    if response.status >= 300:
        detail = error_text(await read_error(response))
        raise failure_for_status(response.status, detail, response.headers.get("Retry-After"))


async def read_error(response: ServiceResponse) -> bytes:
    """Returns the beginning of an error's body, or nothing if it can't be read."""
    deadline = asyncio.get_running_loop().time() + 5
    body = bytearray()
    try:
        while len(body) < MAX_ERROR_BYTES and (block := await response.read_block(deadline)):
            body += block
    except (ServiceFailure, TimeoutError):
        pass
    return bytes(body[:MAX_ERROR_BYTES])


def error_text(body: bytes) -> str:
    """Returns the message in the body of an error: of its JSON, or the body itself if it is a short text."""
    text = body.decode(errors="replace").strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "" if text.startswith("<") else text
    return _message(value)


def _message(value: Any, depth: int = 0) -> str:
    match value:
        case str():
            return value
        case dict() if depth < 4:
            return next((text for name in DETAIL_FIELDS if (text := _message(value.get(name), depth + 1))), "")
        case [first, *_] if depth < 4:
            return _message(first, depth + 1)
        case _:
            return ""


def _form(request: ServiceRequest) -> aiohttp.FormData:
    form = aiohttp.FormData()
    for name, value in request.fields.items():
        form.add_field(name, value)
    for file in request.files:
        form.add_field(
            file.field, file.content, filename=file.name, content_type=file.mime_type or "application/octet-stream"
        )
    return form


def _connector(proxy: str | None, resolver: PublicResolver | None) -> aiohttp.BaseConnector:
    if not is_socks(proxy):
        return aiohttp.TCPConnector(limit=0, resolver=resolver)
    try:
        from aiohttp_socks import ProxyConnector
    except ImportError:
        detail = "a SOCKS proxy needs the package aiohttp-socks; add it to the plugin's requirements"
        raise ServiceFailure("config", detail) from None
    # The proxy resolves the names, as socks5h does, so that the name of the service stays within the proxy.
    connector: aiohttp.BaseConnector = ProxyConnector.from_url(
        str(proxy).replace("socks5h://", "socks5://"), rdns=True, limit=0
    )
    return connector


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _reason(error: aiohttp.ClientConnectorError) -> str:
    match error:
        case aiohttp.ClientConnectorDNSError():
            return "there is no such host"
        case aiohttp.ClientConnectorCertificateError():
            return "its certificate is not trusted"
        case aiohttp.ClientSSLError():
            return "it does not speak TLS as it should"
        case _:
            return error.strerror or "the connection was refused"
