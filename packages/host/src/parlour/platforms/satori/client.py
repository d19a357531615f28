"""Client of a Satori server's HTTP API: calls in the name of a login, uploads, and files of the server."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any
from urllib.parse import quote, urlsplit

from parlour.core.platforms.port import AdapterStopped, PlatformRefused
from parlour.network.proxies import ProxySettings
from parlour.platforms._kit.http_client import ApiRequest, ApiResponse, PlatformHttpClient, Upload, check_status
from parlour.platforms._kit.outgoing_files import OutgoingFile
from parlour.platforms._kit.payloads import Payload, objects_in, text

from .entities import SERVICE, SatoriLogin

DEFAULT_ENDPOINT = "http://127.0.0.1:5140/satori"
MAX_PAGES = 100
MAX_FILE_BYTES = 32 * 1024 * 1024
_HTTP = {"http": "http", "https": "https", "ws": "http", "wss": "https"}


class SatoriUnauthorized(PlatformRefused):
    """Raised when the server does not accept the token."""


class NotServed(PlatformRefused):
    """Raised when the server, or the platform behind it, does not have a method."""


def base_address(endpoint: str) -> str:
    """Returns the address of the API with its version. Accepts addresses of the socket too. Raises AdapterStopped."""
    parts = urlsplit(endpoint.strip().rstrip("/"))
    if parts.scheme not in _HTTP or not parts.hostname:
        raise AdapterStopped(f"endpoint: must be the address of the Satori server, such as {DEFAULT_ENDPOINT}")
    path = parts.path.removesuffix("/events").removesuffix("/v1")
    return f"{_HTTP[parts.scheme]}://{parts.netloc}{path}/v1"


def socket_address(base: str) -> str:
    return f"ws{base.removeprefix('http')}/events"


class SatoriClient:
    """Makes the calls of one bot."""

    def __init__(self, base: str, token: str, proxies: ProxySettings) -> None:
        self._base = base
        self._http = PlatformHttpClient(SERVICE, base, proxies)
        self._authorization = {"Authorization": f"Bearer {token}"} if token else {}
        self.proxied: tuple[str, ...] = ()
        """Beginnings of the addresses that only the server can fetch."""

    def connection(self) -> AbstractAsyncContextManager[None]:
        return self._http.connection()

    async def call(self, login: SatoriLogin, method: str, params: Payload) -> Any:
        """Calls a method and returns its result. Raises the errors of the port."""
        body = {name: value for name, value in params.items() if value is not None}
        request = ApiRequest("POST", f"/{quote(method, safe='./')}", method, json=body, headers=self._headers(login))
        return self._checked(request, await self._http.send(request)).read_json()

    async def pages(self, login: SatoriLogin, method: str, params: Payload) -> AsyncIterator[Payload]:
        """Yields the items of all pages of a list."""
        following: str | None = None
        for _ in range(MAX_PAGES):
            answer = await self.call(login, method, {**params, "next": following})
            page = answer if isinstance(answer, dict) else {}
            for each in objects_in(page, "data"):
                yield each
            following = text(page, "next") or None
            if following is None:
                return

    async def upload(self, login: SatoriLogin, file: OutgoingFile) -> str:
        """Uploads a file and returns the address with which messages show it."""
        uploads = [Upload("file", file.data, file.name, file.mime_type)]
        request = ApiRequest("POST", "/upload.create", "upload.create", uploads=uploads, headers=self._headers(login))
        answer = self._checked(request, await self._http.send(request)).read_object() or {}
        address = text(answer, "file") or next((each for each in answer.values() if isinstance(each, str)), "")
        if not address:
            raise PlatformRefused(f"{SERVICE} returned no address of the file", permanent=True)
        return address

    def is_of_server(self, source: str) -> bool:
        """Returns whether only the server can fetch this address."""
        return source.startswith("internal:") or any(source.startswith(each) for each in self.proxied if each)

    async def fetch(self, source: str) -> tuple[bytes, str]:
        """Fetches a file through the server, and returns it with its type."""
        path = f"/proxy/{quote(source, safe=':/')}"
        request = ApiRequest("GET", path, "proxy", headers=self._authorization, max_bytes=MAX_FILE_BYTES)
        response = self._checked(request, await self._http.send(request))
        return response.body, response.headers.get("Content-Type", "").partition(";")[0]

    def _headers(self, login: SatoriLogin) -> dict[str, str]:
        """Returns the headers that name the login, in their present and their older form."""
        names = {"Satori-Platform": login.platform, "Satori-User-ID": login.self_id}
        return {**self._authorization, **names, "X-Platform": login.platform, "X-Self-ID": login.self_id}

    def _checked(self, request: ApiRequest, response: ApiResponse) -> ApiResponse:
        if response.status == 401:
            raise SatoriUnauthorized(f"{SERVICE} refused {request.label}: the token is wrong", permanent=True)
        if response.status in (404, 405, 501):
            reason = _explain(response)
            raise NotServed(
                f"{SERVICE} or the platform behind it does not serve {request.label}{f' ({reason})' if reason else ''}",
                permanent=True,
            )
        return check_status(SERVICE, request, response, _explain)


def _explain(response: ApiResponse) -> str:
    """Returns the reason in the body of an error, which is JSON or plain text."""
    reason = text(response.read_object() or {}, "message")
    return reason or response.body[:200].decode("utf-8", "replace").strip()
