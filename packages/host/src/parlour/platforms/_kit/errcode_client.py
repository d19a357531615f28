"""Client of the HTTP APIs of WeCom and WeChat: an access token in the query, and an `errcode` in each answer."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.network.proxies import ProxySettings
from parlour_sdk.values import dataclass

from .access_tokens import AccessTokens, FetchedToken, TokenExpired
from .http_client import ApiRequest, ApiResponse, PlatformHttpClient, Upload, check_status
from .outgoing_files import OutgoingFile
from .payloads import Payload, number, text
from .retry_after import retry_after_seconds

TOKEN_CODES = (40001, 40014, 41001, 42001)
BUSY_CODE = -1
RATE_CODES = {45009: 60.0, 45033: 1.0, 45011: 60.0, 50002: 60.0}
"""Seconds to wait after a call that exceeded a limit."""
ALLOWLIST_CODES = (60020, 40164)
BUSY_RETRY_SECONDS = 1.0
DEFAULT_LIFETIME_SECONDS = 7200
FILE_TIMEOUT_SECONDS = 30.0
_ADDRESS = re.compile(r"(?:from ip|invalid ip)[:\s]+([0-9A-Fa-f.:]+)")
MEANINGS = {
    40003: "there is no such user",
    40007: "the file is not known any more",
    40056: "there is no such agent id",
    48002: "the app lacks the permission for this call",
    60011: "the app lacks the permission for this user or department",
    60111: "there is no such user",
    81013: "none of the receivers can be reached",
    82001: "none of the receivers is within the visible range of the app",
    301002: "the app lacks the permission for this",
}


class ErrcodeRefused(PlatformRefused):
    """Raised when the platform rejected a call. `code` is its own number of the reason."""

    def __init__(self, reason: str, code: int, permanent: bool = True) -> None:
        super().__init__(reason, permanent=permanent)
        self.code = code


@dataclass(frozen=True, slots=True)
class ErrcodeService:
    """A platform: its name in messages, the request that fetches a token, and what its own codes mean."""

    name: str
    token_request: ApiRequest
    meanings: Mapping[int, str]


class ErrcodeClient:
    """Makes the calls of one account."""

    def __init__(self, service: ErrcodeService, base_url: str, proxies: ProxySettings) -> None:
        self._service = service
        self._http = PlatformHttpClient(service.name, base_url, proxies)
        self.tokens = AccessTokens(self._fetch_token)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[None]:
        """Keeps the connections open; calls outside of it raise PlatformOffline."""
        async with self._http.connection():
            try:
                yield
            finally:
                await self.tokens.close()

    async def get(self, path: str, **query: str | int) -> Payload:
        return await self._call(ApiRequest("GET", f"/{path}", path, query=query))

    async def post(self, path: str, body: Payload) -> Payload:
        return await self._call(ApiRequest("POST", f"/{path}", path, json=body))

    async def upload(self, file: OutgoingFile, kind: str) -> str:
        """Uploads a file and returns its media id, which is valid for three days."""
        upload = Upload("media", file.data, file.name, file.mime_type)
        answer = await self._call(
            ApiRequest("POST", "/media/upload", "media/upload", query={"type": kind}, uploads=[upload])
        )
        return text(answer, "media_id")

    async def download(self, media_id: str, max_bytes: int) -> ApiResponse:
        """Returns the content of a received file."""
        request = ApiRequest(
            "GET", "/media/get", "media/get", query={"media_id": media_id}, seconds=FILE_TIMEOUT_SECONDS,
            max_bytes=max_bytes,
        )  # fmt: skip

        async def fetch(token: str) -> ApiResponse:
            response = await self._send(replace(request, query={**request.query, "access_token": token}))
            content_type = response.headers.get("Content-Type", "")
            if "json" not in content_type and "text/plain" not in content_type:
                return response
            address = text(self._read(request, response), "video_url")  # WeChat keeps videos at another address
            if not address:
                return response
            video = replace(request, path=address, query={})
            return check_status(self._service.name, video, await self._http.send(video), _explain)

        return await self.tokens.use(fetch)

    async def _call(self, request: ApiRequest) -> Payload:
        async def make(token: str) -> Payload:
            authorized = replace(request, query={**request.query, "access_token": token})
            return self._read(request, await self._send(authorized))

        return await self.tokens.use(make)

    async def _send(self, request: ApiRequest) -> ApiResponse:
        response = await self._http.send(request)
        return check_status(self._service.name, request, response, _explain)

    async def _fetch_token(self) -> FetchedToken:
        request = self._service.token_request
        response = await self._send(request)
        body = response.read_object() or {}
        code, value = body.get("errcode", 0), text(body, "access_token")
        if code:
            raise self._refusal(request, body, int(code) if isinstance(code, int) else 0, response)
        if not value:
            raise PlatformOffline(self._wrong_address(), retry_after=1.0)
        return FetchedToken(value, number(body.get("expires_in")) or DEFAULT_LIFETIME_SECONDS)

    def _read(self, request: ApiRequest, response: ApiResponse) -> Payload:
        body = response.read_object()
        code = body.get("errcode", 0) if body is not None else None
        if body is None or not isinstance(code, int):
            raise PlatformUncertain(self._wrong_address())
        if code in TOKEN_CODES:
            raise TokenExpired(f"{self._service.name} does not accept the access token", retry_after=1.0)
        if code:
            raise self._refusal(request, body, code, response)
        return body

    def _wrong_address(self) -> str:
        return f"what answers at the address of the {self._service.name} API is something else"

    def _refusal(self, request: ApiRequest, body: Payload, code: int, response: ApiResponse) -> PlatformRefused:
        service, reason = self._service.name, text(body, "errmsg")
        if code == BUSY_CODE:
            return PlatformRefused(f"{service} is busy", retry_after=BUSY_RETRY_SECONDS)
        if code in RATE_CODES:
            seconds = retry_after_seconds(response.headers, body) or RATE_CODES[code]
            return PlatformRefused(f"{service} refused {request.label}: there were too many calls", seconds)
        if code in ALLOWLIST_CODES:
            found = _ADDRESS.search(reason)
            address = found[1] if found else "this Host"
            return ErrcodeRefused(
                f"{service} accepts no calls from the address {address}; add it to the allowed IP addresses of the app",
                code,
                permanent=False,
            )
        known = self._service.meanings.get(code) or MEANINGS.get(code)
        detail = f"{code} {reason}".strip()
        sentence = f"{known} ({detail})" if known else detail
        return ErrcodeRefused(f"{service} refused {request.label}: {sentence}"[:500], code)


def _explain(response: ApiResponse) -> str:
    return text(response.read_object() or {}, "errmsg")


def token_query(path: str, **query: str) -> ApiRequest:
    """Returns the request for a token whose secrets are in the query."""
    return ApiRequest("GET", f"/{path}", path, query=query)


def token_body(path: str, body: Mapping[str, Any]) -> ApiRequest:
    """Returns the request for a token whose secrets are in the body."""
    return ApiRequest("POST", f"/{path}", path, json=body)
