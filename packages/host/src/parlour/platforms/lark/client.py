"""Client of Lark's open platform: access tokens, calls, files, and the errors of the platform port."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.network.proxies import ProxySettings
from parlour.platforms._kit.access_tokens import AccessTokens, FetchedToken, TokenExpired
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.http_client import ApiRequest, ApiResponse, PlatformHttpClient, Upload, check_status
from parlour.platforms._kit.payloads import Payload, number, object_in, objects_in, text
from parlour.platforms._kit.retry_after import retry_after_seconds

from .entities import SERVICE

PAGE_SIZE, MAX_PAGES = 100, 100
MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024
RATE_CODES = (99991400, 230020, 11232, 300120)
TOKEN_CODES = (99991661, 99991663, 99991664, 99991668, 99991671)
APP_CODES = (10003, 10014, 10013, 99991662, 1000040344, 514, 403)
"""Codes that say that the id or the secret of the app is wrong."""
SCOPE_CODES = (99991672, 99991679)
UNKNOWN_CODE = -1
NO_TICKET = "Lark has not sent the ticket of the app yet; it is asked for, and sent at the latest after an hour"
_MEANINGS = {
    230001: "a parameter is missing or wrong",
    230002: "the bot is not in the chat; add it to the group",
    230006: "the app has no bot; enable it in the developer console",
    230013: "the user is outside the availability of the app; extend it in the developer console",
    230018: "the group lets the bot write nothing",
    230025: "the text is longer than Lark takes",
    230028: "Lark's content check refused the text",
    230035: "the bot may not write in this chat",
    230071: "the bot can edit only its own messages",
    230072: "the message can't be edited any more",
    230099: "Lark can't show this card",
    230110: "the message is not there any more",
    231003: "the message is not there any more",
    99991672: "the app lacks a permission; add it in the developer console and publish a version",
    99991679: "the app lacks a permission; add it in the developer console and publish a version",
}


class LarkRefused(PlatformRefused):
    """Raised when Lark rejected a call. `code` is its own number of the reason."""

    def __init__(self, reason: str, code: int) -> None:
        super().__init__(reason, permanent=True)
        self.code = code


class LarkClient:
    """Makes the calls of one app, with a token for each tenant that uses it."""

    def __init__(
        self, base_url: str, app_id: str, app_secret: str, proxies: ProxySettings, is_store_app: bool = False
    ) -> None:
        self._http = PlatformHttpClient(SERVICE, base_url, proxies)
        self.app_id = app_id
        self._secret = app_secret
        self._is_store_app = is_store_app
        self._app_token = AccessTokens(self._fetch_app_token)
        self._tenant_tokens: BoundedMap[str, AccessTokens] = BoundedMap(1000)
        self.app_ticket = ""
        """The ticket of a store app, which Lark reports every hour."""

    def connection(self) -> AbstractAsyncContextManager[None]:
        return self._http.connection()

    def tenant(self, key: str) -> "LarkTenantClient":
        """Returns the client of one tenant; the key is empty for an app of one's own."""
        return LarkTenantClient(self, key)

    def tokens(self, tenant_key: str) -> AccessTokens:
        """Returns the tokens for calls in a tenant."""
        found = self._tenant_tokens.get(tenant_key)
        if found is None:

            async def fetch() -> FetchedToken:
                return await self._fetch_tenant_token(tenant_key)

            found = AccessTokens(fetch)
            self._tenant_tokens.set(tenant_key, found)
        return found

    def drop_app_token(self) -> None:
        """Forgets the token of the app, so that the next call fetches another."""
        self._app_token = AccessTokens(self._fetch_app_token)

    async def close(self) -> None:
        for tokens in (self._app_token, *self._tenant_tokens.values()):
            await tokens.close()

    async def endpoint(self) -> Payload:
        """Returns where the long connection is opened, with its intervals."""
        body = {"AppID": self.app_id, "AppSecret": self._secret}
        request = ApiRequest(
            "POST", "/callback/ws/endpoint", "the long connection", json=body, headers={"locale": "en"}
        )
        return object_in(await self.exchange(request), "data")

    async def request_ticket(self) -> None:
        """Asks Lark to report the ticket of a store app again."""
        await self._authenticate("app_ticket/resend", app_id=self.app_id, app_secret=self._secret)

    async def exchange(self, request: ApiRequest) -> Payload:
        """Sends a request and returns the body of its answer. Raises the errors of the platform port."""
        response = await self._http.send(request)
        body = response.read_object()
        code = number((body or {}).get("code"))
        if response.status == 429 or code in RATE_CODES:
            raise PlatformRefused(f"Lark refused {request.label}: there were too many calls", _delay(response, body))
        if body is None or code is None:
            check_status(SERVICE, request, response, lambda _: "")
            raise PlatformUncertain(f"what answers at the address of the {SERVICE} API is something else")
        if code in TOKEN_CODES:
            raise TokenExpired(f"Lark refused {request.label}: the access token has expired")
        if code:
            raise _refusal(request.label, code, text(body, "msg"))
        return body

    async def download(self, request: ApiRequest) -> bytes:
        """Returns the content of a file. Raises the errors of the platform port."""
        response = await self._http.send(request)
        if response.status >= 400:
            body = response.read_object() or {}
            code = number(body.get("code")) or UNKNOWN_CODE
            if code in TOKEN_CODES:
                raise TokenExpired("Lark refused a file: the access token has expired")
            raise _refusal(request.label, code, text(body, "msg") or f"HTTP status {response.status}")
        return response.body

    async def _fetch_tenant_token(self, tenant_key: str) -> FetchedToken:
        if not self._is_store_app:
            credentials = {"app_id": self.app_id, "app_secret": self._secret}
            return _token(await self._authenticate("tenant_access_token/internal", **credentials), "tenant")

        async def fetch(app_token: str) -> Payload:
            return await self._authenticate("tenant_access_token", app_access_token=app_token, tenant_key=tenant_key)

        return _token(await self._app_token.use(fetch), "tenant")

    async def _fetch_app_token(self) -> FetchedToken:
        if not self.app_ticket:
            await self.request_ticket()
            raise PlatformOffline(NO_TICKET, retry_after=5.0)
        fields = {"app_id": self.app_id, "app_secret": self._secret, "app_ticket": self.app_ticket}
        return _token(await self._authenticate("app_access_token", **fields), "app")

    async def _authenticate(self, path: str, **body: str) -> Payload:
        return await self.exchange(ApiRequest("POST", f"/open-apis/auth/v3/{path}", path, json=body))


class LarkTenantClient:
    """Makes the calls in one tenant."""

    def __init__(self, client: LarkClient, tenant_key: str) -> None:
        self._client = client
        self._tokens = client.tokens(tenant_key)
        self._key = tenant_key

    async def call(
        self,
        method: str,
        path: str,
        json: Any = None,
        query: dict[str, str | int] | None = None,
        form: dict[str, Any] | None = None,
        uploads: tuple[Upload, ...] = (),
    ) -> Payload:
        """Makes a call below /open-apis and returns the body of its answer."""
        label = f"{method} {_label(path)}"

        async def send(token: str) -> Payload:
            request = ApiRequest(
                method,
                f"/open-apis/{path}",
                label,
                json=json,
                form=form or {},
                uploads=uploads,
                headers={"Authorization": f"Bearer {token}"},
                query=query or {},
            )
            return await self._client.exchange(request)

        return await self._tokens.use(send)

    async def get(self, path: str, **query: str | int) -> Payload:
        """Returns the `data` of an answer."""
        return object_in(await self.call("GET", path, query=query), "data")

    async def pages(self, path: str, **query: str | int) -> AsyncIterator[Payload]:
        """Yields the items of all pages of a list."""
        for _ in range(MAX_PAGES):
            data = await self.get(path, page_size=PAGE_SIZE, **query)
            for each in objects_in(data, "items"):
                yield each
            query["page_token"] = text(data, "page_token")
            if data.get("has_more") is not True or not query["page_token"]:
                return

    async def resource(self, message_id: str, file_key: str, kind: str) -> bytes:
        """Returns the content of a file that a user sent."""
        path = f"/open-apis/im/v1/messages/{message_id}/resources/{file_key}"

        async def fetch(token: str) -> bytes:
            headers = {"Authorization": f"Bearer {token}"}
            request = ApiRequest(
                "GET", path, "a file", headers=headers, query={"type": kind}, max_bytes=MAX_DOWNLOAD_BYTES
            )
            return await self._client.download(request)

        return await self._tokens.use(fetch)

    async def refresh(self) -> None:
        """Fetches another token."""
        self._tokens.reject(await self._tokens.get())
        await self._tokens.get()

    async def check_token(self) -> bool:
        """Returns whether Lark gives out a token."""
        return bool(await self._tokens.get())


def _token(body: Payload, kind: str) -> FetchedToken:
    value = text(body, f"{kind}_access_token")
    if not value:
        raise PlatformUncertain(f"what answers at the address of the {SERVICE} API is something else")
    return FetchedToken(value, number(body.get("expire")) or 0)


def _refusal(label: str, code: int, message: str) -> LarkRefused:
    meaning = _MEANINGS.get(code)
    known = f"{meaning} ({message})" if meaning and message else meaning or message or str(code)
    return LarkRefused(f"Lark refused {label}: {known}"[:500], code)


def _delay(response: ApiResponse, body: Payload | None) -> float:
    """Returns the seconds until the limit is reset."""
    reset = response.headers.get("x-ogw-ratelimit-reset", "")
    if reset.replace(".", "", 1).isdecimal():
        return max(float(reset), 0.1)
    return retry_after_seconds(response.headers, body) or 1.0


def _label(path: str) -> str:
    """Returns the name of a call without the ids in its path."""
    return "/".join("…" if "_" in part and any(map(str.isdigit, part)) else part for part in path.split("/"))
