"""Client of QQ's API: the access token, calls, and the errors of the platform port."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from parlour.core.platforms.port import PlatformOffline, PlatformRefused
from parlour.network.proxies import ProxySettings
from parlour.platforms._kit.access_tokens import AccessTokens, FetchedToken, TokenExpired
from parlour.platforms._kit.http_client import ApiRequest, ApiResponse, PlatformHttpClient, Upload, check_status
from parlour.platforms._kit.payloads import Payload, text
from parlour.platforms._kit.retry_after import retry_after_seconds

from .entities import SERVICE

REFRESH_AHEAD_SECONDS = 50.0
"""QQ gives out a new token only within the last minute of the old one."""
DEFAULT_LIFETIME_SECONDS = 7200.0
WRONG_LOGIN_CODE, TOO_MANY_LOGINS_CODE = 100016, 100017
TOKEN_EXPIRED_CODES = (11244, 11241, 11243)
ALLOWLIST_CODE = 11298
RATE_CODES = (22009, 20028, 304045)
RATE_SECONDS = 2.0
DUPLICATE_CODE = 40054005
ADDRESS_CODE = 40054010
EXPIRED_CODES = (40034024, 40034005, 304027)
AUDIT_CODES = (304023, 304024)
MEANINGS: Mapping[int, str] = {
    40034024: "the message can't be answered any more",
    40034005: "the message can't be answered any more",
    40034102: "the bot may not send messages of its own here",
    ADDRESS_CODE: "QQ does not allow the address in the text; register its domain in the bot's settings",
    ALLOWLIST_CODE: "QQ accepts no calls from this Host's address; add it to the IP allowlist of the bot",
    50056: "the bot lacks the permission for Markdown",
}


class QQRefused(PlatformRefused):
    """Raised when QQ rejected a call. `code` is its own number of the reason."""

    def __init__(self, reason: str, code: int) -> None:
        super().__init__(reason, permanent=code != ALLOWLIST_CODE)
        self.code = code


class QQClient:
    """Makes the calls of one bot."""

    def __init__(self, api_url: str, token_url: str, app_id: str, secret: str, proxies: ProxySettings) -> None:
        self._http = PlatformHttpClient(SERVICE, api_url, proxies)
        self._token_url = token_url
        self._login = {"appId": app_id, "clientSecret": secret}
        self._app_id = app_id
        self.tokens = AccessTokens(self._fetch_token, ahead_seconds=REFRESH_AHEAD_SECONDS)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[None]:
        """Keeps the connections open; calls outside of it raise PlatformOffline."""
        async with self._http.connection():
            try:
                yield
            finally:
                await self.tokens.close()

    async def call(self, method: str, path: str, body: Payload | None = None, upload: Upload | None = None) -> Payload:
        """Makes a call. With a file, the body is sent as a form."""
        label = path.rpartition("/")[2] if not body or "msg_type" not in body else "messages"
        request = ApiRequest(method, path, label)
        request = replace(request, form=body or {}, uploads=[upload]) if upload else replace(request, json=body)

        async def make(token: str) -> Payload:
            headers = {"Authorization": f"QQBot {token}", "X-Union-Appid": self._app_id}
            return self._read(request, await self._http.send(replace(request, headers=headers)))

        return await self.tokens.use(make)

    async def _fetch_token(self) -> FetchedToken:
        request = ApiRequest("POST", self._token_url, "getAppAccessToken", json=self._login)
        response = check_status(SERVICE, request, await self._http.send(request), _explain)
        body = response.read_object() or {}
        token, code = text(body, "access_token"), body.get("code")
        if code == TOO_MANY_LOGINS_CODE:
            raise PlatformRefused(f"{SERVICE} refused the login: there were too many", retry_after=60.0)
        if isinstance(code, int) and code:
            raise QQRefused(f"{SERVICE} does not accept appid and secret ({code} {text(body, 'message')})", code)
        if not token:
            raise PlatformOffline("what answers at auth_url is not the QQ API", retry_after=1.0)
        return FetchedToken(token, _seconds(body.get("expires_in")))

    def _read(self, request: ApiRequest, response: ApiResponse) -> Payload:
        body = response.read_object() or {}
        code = body.get("code") or body.get("err_code") or 0
        if not isinstance(code, int) or response.status >= 500:
            code = 0
        if response.status < 400 and (not code or code in AUDIT_CODES):
            return body
        if (response.status == 401 or code in TOKEN_EXPIRED_CODES) and code != ALLOWLIST_CODE:
            raise TokenExpired(f"{SERVICE} does not accept the access token", retry_after=1.0)
        if response.status == 429 or code in RATE_CODES:
            seconds = retry_after_seconds(response.headers, body) or RATE_SECONDS
            raise PlatformRefused(f"{SERVICE} refused {request.label}: there were too many calls", seconds)
        if code:
            trace = response.headers.get("X-Tps-trace-ID") or text(body, "trace_id")
            known, detail = MEANINGS.get(code), f"{code} {text(body, 'message')} {trace}".strip()
            reason = f"{known} ({detail})" if known else detail
            raise QQRefused(f"{SERVICE} refused {request.label}: {reason}"[:500], code)
        check_status(SERVICE, request, response, _explain)
        return body


def _seconds(value: Any) -> float:
    """Returns a lifetime, which QQ writes as a text."""
    try:
        return max(float(value), 1.0)
    except (TypeError, ValueError):
        return DEFAULT_LIFETIME_SECONDS


def _explain(response: ApiResponse) -> str:
    return text(response.read_object() or {}, "message")
