"""Client of Mattermost's REST API: calls, files, and the errors of the platform port that its answers become."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.network.proxies import ProxySettings
from parlour.platforms._kit.http_client import ApiRequest, ApiResponse, PlatformHttpClient, Upload, check_status
from parlour.platforms._kit.outgoing_files import OutgoingFile
from parlour.platforms._kit.payloads import Payload, objects_in, text
from parlour.platforms._kit.retry_after import retry_after_seconds

from .entities import SERVICE

API_PATH = "/api/v4"
MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024
DEFAULT_RETRY_SECONDS = 1.0
PAGE_SIZE, MAX_PAGES = 200, 100
_MEANINGS = {
    403: "the bot lacks the permission for this; add it to the channel, or let an administrator give it the permission",
    413: "the file is larger than the server accepts",
    501: "the administrator of the server has switched this off",
}


class MattermostRefused(PlatformRefused):
    """Raised when Mattermost rejected a call. `status` is the HTTP status, `code` the server's name of the reason."""

    def __init__(self, reason: str, status: int, code: str) -> None:
        super().__init__(reason, permanent=True)
        self.status = status
        self.code = code


class MattermostUnauthorized(MattermostRefused):
    """Raised when Mattermost does not accept the token."""


class MattermostClient:
    """Makes the calls of one bot."""

    def __init__(self, server_url: str, token: str, proxies: ProxySettings) -> None:
        self._http = PlatformHttpClient(SERVICE, f"{server_url}{API_PATH}", proxies)
        self._headers = {"Authorization": f"Bearer {token}"}

    def connection(self) -> AbstractAsyncContextManager[None]:
        return self._http.connection()

    async def get(self, path: str, label: str, **query: str | int) -> Payload:
        return await self._object(ApiRequest("GET", f"/{path}", label, query=query, headers=self._headers))

    async def get_list(self, path: str, label: str, **query: str | int) -> list[Payload]:
        request = ApiRequest("GET", f"/{path}", label, query=query, headers=self._headers)
        return _objects((await self._checked(request)).read_json())

    async def pages(self, path: str, label: str) -> AsyncIterator[Payload]:
        """Yields the items of all pages of a list."""
        for page in range(MAX_PAGES):
            items = await self.get_list(path, label, page=page, per_page=PAGE_SIZE)
            for each in items:
                yield each
            if len(items) < PAGE_SIZE:
                return

    async def post(self, path: str, label: str, body: Any) -> Payload:
        return await self._object(ApiRequest("POST", f"/{path}", label, json=body, headers=self._headers))

    async def post_list(self, path: str, label: str, body: Any) -> list[Payload]:
        request = ApiRequest("POST", f"/{path}", label, json=body, headers=self._headers)
        return _objects((await self._checked(request)).read_json())

    async def put(self, path: str, label: str, body: Any) -> Payload:
        return await self._object(ApiRequest("PUT", f"/{path}", label, json=body, headers=self._headers))

    async def delete(self, path: str, label: str) -> Payload:
        return await self._object(ApiRequest("DELETE", f"/{path}", label, headers=self._headers))

    async def upload(self, files: Sequence[OutgoingFile], channel_id: str) -> list[str]:
        """Uploads files for a message in this channel and returns their ids."""
        uploads = [Upload("files", each.data, each.name, each.mime_type) for each in files]
        form = {"channel_id": channel_id}
        request = ApiRequest(
            "POST", "/files", "the upload of a file", form=form, uploads=uploads, headers=self._headers
        )
        return [text(each, "id") for each in objects_in(await self._object(request), "file_infos")]

    async def download(self, file_id: str) -> bytes:
        """Returns the content of a file of a message."""
        request = ApiRequest("GET", f"/files/{file_id}", "a file", headers=self._headers, max_bytes=MAX_DOWNLOAD_BYTES)
        return (await self._checked(request)).body

    async def _object(self, request: ApiRequest) -> Payload:
        answer = (await self._checked(request)).read_object()
        if answer is None:
            raise PlatformUncertain(f"what answers at the address of the {SERVICE} server is something else")
        return answer

    async def _checked(self, request: ApiRequest) -> ApiResponse:
        """Sends a request and returns a successful response. Raises the errors of the platform port."""
        response = await self._http.send(request)
        status, body = response.status, response.read_object()
        if status == 429:
            raise PlatformRefused(f"Mattermost refused {request.label}: there were too many calls", _delay(response))
        if status == 401:
            raise MattermostUnauthorized("Mattermost does not accept the token", status, text(body or {}, "id"))
        if status in (400, 403, 404, 413, 501) and body is not None:
            reason = "; ".join(filter(None, (_MEANINGS.get(status, ""), text(body, "message"))))
            raise MattermostRefused(f"Mattermost refused {request.label}: {reason}"[:500], status, text(body, "id"))
        if 300 <= status < 400:
            raise PlatformUncertain(f"{SERVICE} is at another address; correct the url")
        return check_status(SERVICE, request, response, _explain)


def _objects(value: Any) -> list[Payload]:
    if not isinstance(value, list):
        raise PlatformUncertain(f"what answers at the address of the {SERVICE} server is something else")
    return [each for each in value if isinstance(each, dict)]


def _delay(response: ApiResponse) -> float:
    """Returns the seconds until the limit is reset."""
    delay = retry_after_seconds(response.headers)
    reset = response.headers.get("X-Ratelimit-Reset", "")
    if delay is None and reset.replace(".", "", 1).isdecimal():
        delay = float(reset)
    return DEFAULT_RETRY_SECONDS if delay is None else max(delay, 0.1)


def _explain(response: ApiResponse) -> str:
    return text(response.read_object() or {}, "message")
