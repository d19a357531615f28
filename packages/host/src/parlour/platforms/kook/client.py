"""Client of KOOK's HTTP API: calls, files, and the errors of the platform port that its answers become."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.network.proxies import ProxySettings
from parlour.platforms._kit.http_client import ApiRequest, ApiResponse, PlatformHttpClient, Upload, check_status
from parlour.platforms._kit.outgoing_files import OutgoingFile
from parlour.platforms._kit.payloads import Payload, number, object_in, objects_in, text
from parlour.platforms._kit.retry_after import retry_after_seconds

from .entities import SERVICE

BASE_URL = "https://www.kookapp.cn/api/v3"
TOKEN_CODES = (40101, 40102, 401)
RATE_CODE = 42900
DEFAULT_RETRY_SECONDS = 5.0
PAGE_SIZE, MAX_PAGES = 50, 200
_MEANINGS = {
    40000: "a parameter is missing or wrong",
    40300: "the bot lacks the permission for this; give its role the permission in the server",
    40400: "there is no such channel, message, server or user",
}


class KookRefused(PlatformRefused):
    """Raised when KOOK rejected a call. `code` is its own number of the reason."""

    def __init__(self, reason: str, code: int) -> None:
        super().__init__(reason, permanent=True)
        self.code = code


class KookClient:
    """Makes the calls of one bot. KOOK answers most of them with status 200, and the outcome in the body."""

    def __init__(self, base_url: str, token: str, proxies: ProxySettings) -> None:
        self._http = PlatformHttpClient(SERVICE, base_url, proxies)
        self._headers = {"Authorization": f"Bot {token}"}

    def connection(self) -> AbstractAsyncContextManager[None]:
        return self._http.connection()

    async def get(self, path: str, **query: str | int) -> Payload:
        return await self._call(ApiRequest("GET", f"/{path}", path, query=query, headers=self._headers))

    async def post(self, path: str, **params: Any) -> Payload:
        body = {name: value for name, value in params.items() if value is not None}
        return await self._call(ApiRequest("POST", f"/{path}", path, json=body, headers=self._headers))

    async def pages(self, path: str, **query: str | int) -> AsyncIterator[Payload]:
        """Yields the items of all pages of a list."""
        for page in range(1, MAX_PAGES + 1):
            answer = await self.get(path, page=page, page_size=PAGE_SIZE, **query)
            for each in objects_in(answer, "items"):
                yield each
            if page >= (number(object_in(answer, "meta").get("page_total")) or 1):
                return

    async def upload(self, file: OutgoingFile) -> str:
        """Uploads a file and returns its address, with which messages show it."""
        upload = Upload("file", file.data, file.name, file.mime_type)
        request = ApiRequest("POST", "/asset/create", "asset/create", uploads=[upload], headers=self._headers)
        return text(await self._call(request), "url")

    async def _call(self, request: ApiRequest) -> Payload:
        response = await self._http.send(request)
        body = response.read_object() or {}
        code = number(body.get("code"))
        if response.status == 429 or code == RATE_CODE:
            raise PlatformRefused(f"KOOK refused {request.label}: there were too many calls", _delay(response, body))
        if response.status == 401:
            raise KookRefused(f"KOOK refused {request.label}: the token is wrong", 401)
        if not code and response.status >= 400:
            check_status(SERVICE, request, response, _explain)
        if code is None:
            raise PlatformUncertain(f"what answers at the address of the {SERVICE} API is something else")
        if code:
            reason = text(body, "message") or _MEANINGS.get(code) or str(code)
            known = _MEANINGS.get(code)
            sentence = f"{known} ({reason})" if known and known != reason else reason
            raise KookRefused(f"KOOK refused {request.label}: {sentence}"[:500], code)
        data = body.get("data")
        return data if isinstance(data, dict) else {"items": data} if isinstance(data, list) else {}


def _delay(response: ApiResponse, body: Payload) -> float:
    """Returns the seconds until the limit is reset."""
    delay = retry_after_seconds(response.headers, body)
    reset = response.headers.get("X-Rate-Limit-Reset", "")
    if delay is None and reset.replace(".", "", 1).isdecimal():
        delay = float(reset)
    return DEFAULT_RETRY_SECONDS if delay is None else max(delay, 0.1)


def _explain(response: ApiResponse) -> str:
    return text(response.read_object() or {}, "message")
