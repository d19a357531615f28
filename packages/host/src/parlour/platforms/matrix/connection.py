"""Sends requests to a homeserver's client API, and translates its error responses into errors of the platform port."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any
from urllib.parse import quote

from pydantic_core import from_json

from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.network.proxies import ProxySettings
from parlour.platforms._kit.http_client import (
    RESPONSE_TIMEOUT_SECONDS,
    ApiRequest,
    ApiResponse,
    PlatformHttpClient,
    check_status,
)
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.retry_after import retry_after_seconds

from .values import Payload, text

SERVICE = "the homeserver"
API = "/_matrix/client/v3"
UPLOAD_PATH = "/_matrix/media/v3/upload"
TRANSFER_TIMEOUT_SECONDS = 120.0
DEFAULT_RETRY_SECONDS = 2.0
MAX_ENDPOINT_PART_LENGTH = 24
UNKNOWN_TOKEN = ("M_UNKNOWN_TOKEN", "M_MISSING_TOKEN")
Query = Mapping[str, str | int]
NO_QUERY: Query = {}


class TokenRefused(PlatformOffline):
    """Raised when the homeserver does not accept the access token; the operator has to replace it."""


class HomeserverRefused(PlatformRefused):
    """Raised for a permanent refusal, with the homeserver's error code."""

    def __init__(self, reason: str, code: str) -> None:
        super().__init__(reason, permanent=True)
        self.code = code


def api_path(*parts: str) -> str:
    """Builds a path below the API prefix. Each part is quoted, whatever characters it has."""
    return "/".join((API, *(quote(part, safe="") for part in parts)))


def require_field(answer: Payload, name: str) -> str:
    """Returns a string that the response must have. Raises PlatformUncertain if it is missing."""
    value = answer.get(name)
    if not isinstance(value, str) or not value:
        raise PlatformUncertain(f"the homeserver's answer has no {name}")
    return value


class MatrixClient:
    """Sends requests with the bot's access token.

    Each raises PlatformRefused, PlatformOffline or PlatformUncertain unless the homeserver accepts it.
    """

    def __init__(self, homeserver: str, token: str, proxies: ProxySettings) -> None:
        self._http = PlatformHttpClient(SERVICE, homeserver, proxies)
        self._token = token

    def connection(self) -> AbstractAsyncContextManager[None]:
        """Keeps the connections to the homeserver open; without it every request raises PlatformOffline."""
        return self._http.connection()

    async def get(self, path: str, query: Query = NO_QUERY, seconds: float = RESPONSE_TIMEOUT_SECONDS) -> Payload:
        return _object(await self._send("GET", path, query=query, seconds=seconds))

    async def put(self, path: str, body: Payload) -> Payload:
        return _object(await self._send("PUT", path, json=body))

    async def post(self, path: str, body: Payload) -> Payload:
        return _object(await self._send("POST", path, json=body))

    async def upload(self, data: bytes, mime_type: str, filename: str) -> Payload:
        query, headers = {"filename": filename} if filename else {}, {"Content-Type": mime_type}
        return _object(
            await self._send("POST", UPLOAD_PATH, headers, data=data, query=query, seconds=TRANSFER_TIMEOUT_SECONDS)
        )

    async def download(self, path: str, max_bytes: int) -> bytes:
        """Downloads a file. Raises PlatformRefused if it is larger than `max_bytes` bytes."""
        return await self._send("GET", path, seconds=TRANSFER_TIMEOUT_SECONDS, max_bytes=max_bytes)

    async def _send(self, method: str, path: str, headers: Mapping[str, str] | None = None, **fields: Any) -> bytes:
        all_headers = {"Authorization": f"Bearer {self._token}", **(headers or {})}
        request = ApiRequest(method, path, _endpoint_name(path), headers=all_headers, follow_redirects=True, **fields)
        response = await self._http.send(request)
        if response.status >= 400:
            _raise_for(request, response)
        return response.body


def _raise_for(request: ApiRequest, response: ApiResponse) -> None:
    """Raises the error of an error response. Its body may be no JSON if a proxy before the homeserver wrote it."""
    status, answer = response.status, response.read_object() or {}
    code = text(answer, "errcode")
    reason = f"{text(answer, 'error')[:300] or 'no reason was given'} ({code or f'HTTP status {status}'})"
    sentence = f"the homeserver refused {request.label}: {reason}"
    if code in UNKNOWN_TOKEN or (status == 401 and not code):
        raise TokenRefused(f"access_token: the homeserver does not accept it ({code or status}); log in anew")
    if status == 429 or code == "M_LIMIT_EXCEEDED":
        delay = retry_after_seconds(response.headers, answer) or DEFAULT_RETRY_SECONDS
        raise PlatformRefused(sentence, retry_after=delay, account_wide=True)
    if status < 500:
        raise HomeserverRefused(sentence, code)
    check_status(SERVICE, request, response, lambda _: reason)


def _endpoint_name(path: str) -> str:
    """Returns the endpoint's name for error messages, without the ids in its path."""
    parts = path.removeprefix(API).strip("/").split("/")
    return "/".join(part for part in parts if "%" not in part and len(part) < MAX_ENDPOINT_PART_LENGTH)


def _object(content: bytes) -> Payload:
    """Parses a response. Raises PlatformUncertain if it is not a JSON object."""
    try:
        answer = from_json(content)  # the usual case: a long response is not searched for what needs repair
    except ValueError:
        try:
            return read_frame(content)
        except FrameUnreadable:
            raise PlatformUncertain("the homeserver answered with something that is no JSON") from None
    if not isinstance(answer, dict):
        raise PlatformUncertain("the homeserver answered with something else than an object")
    return answer
