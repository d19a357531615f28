"""Client of DingTalk's APIs: the access token in a header, and in the older API in the query."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.network.proxies import ProxySettings
from parlour.platforms._kit.access_tokens import AccessTokens, FetchedToken, TokenExpired
from parlour.platforms._kit.http_client import ApiRequest, ApiResponse, PlatformHttpClient, Upload, check_status
from parlour.platforms._kit.outgoing_files import OutgoingFile
from parlour.platforms._kit.payloads import Payload, number, text
from parlour.platforms._kit.retry_after import retry_after_seconds

from .entities import SERVICE

DEFAULT_LIFETIME_SECONDS = 7200
RATE_SECONDS = 1.0
MAX_FILE_BYTES = 20 * 1024 * 1024
FILE_SECONDS = 30.0
TOKEN_CODES = ("InvalidAuthentication", "invalidToken")
LOGIN_CODES = ("authFailed", "invalidClientIdOrSecret")
OLD_TOKEN_CODES = (40014, 42001, 40001)
OLD_RATE_CODES = (90018, 90002, 88)
MEANINGS: Mapping[str, str] = {
    "robot.stopped": "the app is not published; publish a version of it",
    "template.stopped": "the card template is not published",
    "invalidParameter.robotCode.empty": "robot_code is needed",
    "invalidParameter.msgParam.tooLong": "the message is too long",
    "robotNotExist": "there is no such robot; check robot_code",
}


class DingTalkRefused(PlatformRefused):
    """Raised when DingTalk rejected a call. `code` is its own name of the reason."""

    def __init__(self, reason: str, code: str) -> None:
        super().__init__(reason, permanent=True)
        self.code = code


class DingTalkClient:
    """Makes the calls of one app."""

    def __init__(
        self, api_url: str, old_api_url: str, client_id: str, client_secret: str, proxies: ProxySettings
    ) -> None:
        self._http = PlatformHttpClient(SERVICE, api_url, proxies)
        self._old_api_url = old_api_url
        self._login = {"clientId": client_id, "clientSecret": client_secret}
        self._own_host = urlsplit(old_api_url).hostname or ""
        self.tokens = AccessTokens(self._fetch_token)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[None]:
        """Keeps the connections open; calls outside of it raise PlatformOffline."""
        async with self._http.connection():
            try:
                yield
            finally:
                await self.tokens.close()

    async def open_stream(self, subscriptions: list[Payload]) -> Payload:
        """Returns endpoint and ticket of a new connection."""
        body = {**self._login, "subscriptions": subscriptions, "ua": "parlour", "localIp": "127.0.0.1"}
        request = ApiRequest("POST", "/v1.0/gateway/connections/open", "connections/open", json=body)
        return self._read(request, await self._http.send(request))

    async def call(self, method: str, path: str, body: Payload) -> Payload:
        """Makes a call to the API. Its name in messages is the path."""
        request = ApiRequest(method, path, path.removeprefix("/v1.0/"), json=body)

        async def make(token: str) -> Payload:
            headers = {"x-acs-dingtalk-access-token": token}
            return self._read(request, await self._http.send(replace(request, headers=headers)))

        return await self.tokens.use(make)

    async def old_call(
        self, path: str, body: Payload | None = None, upload: Upload | None = None, **query: str
    ) -> Payload:
        """Makes a call to the older API."""
        uploads = [upload] if upload is not None else []
        address = f"{self._old_api_url}{path}"

        async def make(token: str) -> Payload:
            request = ApiRequest(
                "POST", address, path, json=body, uploads=uploads, query={"access_token": token, **query}
            )  # fmt: skip
            return self._read_old(request, await self._http.send(request))

        return await self.tokens.use(make)

    async def answer_session(self, webhook: str, body: Payload) -> None:
        """Sends a message through the address of a session, which needs no token."""
        if not self._is_trusted(webhook):
            raise PlatformRefused("the address of the session is not one of DingTalk", permanent=True)
        request = ApiRequest("POST", webhook, "the session", json=body)
        self._read_old(request, await self._http.send(request))

    async def upload(self, file: OutgoingFile, kind: str) -> str:
        """Uploads a file and returns its media id."""
        upload = Upload("media", file.data, file.name, file.mime_type)
        return text(await self.old_call("/media/upload", upload=upload, type=kind), "media_id")

    async def download(self, code: str, robot_code: str) -> ApiResponse:
        """Returns the content of a received file."""
        url = await self.file_url(code, robot_code)
        request = ApiRequest("GET", url, "the file", seconds=FILE_SECONDS, max_bytes=MAX_FILE_BYTES)
        return check_status(SERVICE, request, await self._http.send(request), _explain)

    async def file_url(self, code: str, robot_code: str) -> str:
        body = {"downloadCode": code, "robotCode": robot_code}
        url = text(await self.call("POST", "/v1.0/robot/messageFiles/download", body), "downloadUrl")
        if not url.startswith(("https://", "http://")):
            raise PlatformRefused("DingTalk knows no address of the file", permanent=True)
        return url

    async def user(self, user_id: str) -> Payload:
        answer = await self.old_call("/topapi/v2/user/get", {"userid": user_id})
        result = answer.get("result")
        return result if isinstance(result, dict) else {}

    def _is_trusted(self, webhook: str) -> bool:
        host = urlsplit(webhook).hostname or ""
        return host == self._own_host or host.endswith(".dingtalk.com")

    async def _fetch_token(self) -> FetchedToken:
        body = {"appKey": self._login["clientId"], "appSecret": self._login["clientSecret"]}
        request = ApiRequest("POST", "/v1.0/oauth2/accessToken", "oauth2/accessToken", json=body)
        answer = self._read(request, await self._http.send(request))
        token = text(answer, "accessToken")
        if not token:
            raise PlatformOffline("what answers at api_base_url is not the DingTalk API", retry_after=1.0)
        return FetchedToken(token, number(answer.get("expireIn")) or DEFAULT_LIFETIME_SECONDS)

    def _read(self, request: ApiRequest, response: ApiResponse) -> Payload:
        body = response.read_object()
        code = text(body or {}, "code")
        if response.status < 400:
            if body is None:
                raise PlatformUncertain("what answers at api_base_url is not the DingTalk API")
            return body
        if response.status == 401 or code in TOKEN_CODES:
            if code in LOGIN_CODES or request.path.endswith(("accessToken", "connections/open")):
                raise DingTalkRefused(f"{SERVICE} does not accept client_id and client_secret", "authFailed")
            raise TokenExpired(f"{SERVICE} does not accept the access token", retry_after=RATE_SECONDS)
        if response.status == 429 or "QpsLimit" in code:
            seconds = retry_after_seconds(response.headers, body) or RATE_SECONDS
            raise PlatformRefused(f"{SERVICE} refused {request.label}: there were too many calls", seconds)
        if code and response.status < 500:
            known = MEANINGS.get(code)
            detail = f"{code} {text(body or {}, 'message')}".strip()
            reason = f"{SERVICE} refused {request.label}: {f'{known} ({detail})' if known else detail}"
            raise DingTalkRefused(reason[:500], code)
        check_status(SERVICE, request, response, _explain)
        raise PlatformUncertain(f"{SERVICE} failed at {request.label}")

    def _read_old(self, request: ApiRequest, response: ApiResponse) -> Payload:
        body = check_status(SERVICE, request, response, _explain).read_object()
        code = (body or {}).get("errcode")
        if body is None or not isinstance(code, int):
            raise PlatformUncertain("what answers at oapi_base_url is not the DingTalk API")
        if code in OLD_TOKEN_CODES:
            raise TokenExpired(f"{SERVICE} does not accept the access token", retry_after=RATE_SECONDS)
        if code in OLD_RATE_CODES:
            raise PlatformRefused(f"{SERVICE} refused {request.label}: there were too many calls", RATE_SECONDS)
        if code:
            raise DingTalkRefused(f"{SERVICE} refused {request.label}: {code} {text(body, 'errmsg')}"[:500], str(code))
        return body


def _explain(response: ApiResponse) -> str:
    body: Any = response.read_object() or {}
    return text(body, "message") or text(body, "errmsg")
