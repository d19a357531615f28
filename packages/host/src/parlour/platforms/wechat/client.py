"""Client of the iLink gateway: its headers, its calls, and what its error codes mean."""

import asyncio
import base64
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.network.proxies import ProxySettings
from parlour.platforms._kit.http_client import ApiRequest, ApiResponse, PlatformHttpClient, check_status
from parlour.platforms._kit.payloads import Payload, text

from .entities import BOT_AGENT, CHANNEL_VERSION, CLIENT_VERSION, LOGIN_EXPIRED, SERVICE, WINDOW_REASON

EXPIRED_CODE, WINDOW_CODE = -14, -2
CALL_SECONDS = 15.0
POLL_SECONDS = 40.0
"""Seconds to wait for messages if WeChat does not say how long it holds the call."""
POLL_GRACE_SECONDS = 5.0
NOTICE_SECONDS = 10.0
EXPIRED_RETRY_SECONDS = 60.0


class SessionExpired(PlatformOffline):
    """Raised when WeChat does not accept the token any more: the user must log in again."""

    def __init__(self) -> None:
        super().__init__(LOGIN_EXPIRED, retry_after=EXPIRED_RETRY_SECONDS)


class WindowClosed(PlatformRefused):
    """Raised when WeChat accepts no message to a user until that user writes again."""

    def __init__(self) -> None:
        super().__init__(WINDOW_REASON, permanent=True)


class WechatClient:
    """Makes the calls of one account; without a token only those of the login."""

    def __init__(self, base_url: str, token: str, proxies: ProxySettings) -> None:
        self._token = token
        self._http = PlatformHttpClient(SERVICE, base_url, proxies)
        self._poll_seconds = POLL_SECONDS

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[None]:
        """Keeps the connections open; calls outside of it raise PlatformOffline."""
        async with self._http.connection():
            yield

    async def call(self, name: str, body: Payload, seconds: float = CALL_SECONDS, query: str = "") -> Payload:
        """Makes a call. An empty answer counts as success: older servers send it for a message that was sent."""
        content = {**body, "base_info": {"channel_version": CHANNEL_VERSION, "bot_agent": BOT_AGENT}}
        path = f"/ilink/bot/{name}{query}"
        request = ApiRequest("POST", path, name, json=content, headers=self._headers(), seconds=seconds)
        return _read(request, await self.send(request))

    async def get(self, address: str, name: str, query: dict[str, str], seconds: float) -> Payload:
        """Makes a call of the login, at another host if an address is given."""
        path = f"{address}/ilink/bot/{name}"
        request = ApiRequest("GET", path, name, query=query, headers=_client_headers(), seconds=seconds)
        return _read(request, await self.send(request))

    async def send(self, request: ApiRequest) -> ApiResponse:
        return check_status(SERVICE, request, await self._http.send(request), _explain)

    async def poll(self, position: str) -> Payload:
        """Waits for messages behind a position. Returns an empty answer if none came in time."""
        try:
            async with asyncio.timeout(self._poll_seconds):
                answer = await self.call("getupdates", {"get_updates_buf": position}, 2 * POLL_SECONDS)
        except TimeoutError:
            return {}
        held = answer.get("longpolling_timeout_ms")
        if isinstance(held, int) and not isinstance(held, bool) and 0 < held <= 300_000:
            self._poll_seconds = held / 1000 + POLL_GRACE_SECONDS
        return answer

    async def announce(self, name: str) -> None:
        """Reports that the bot starts or stops. Only a connection that fails or an ended session matters."""
        try:
            await self.call(name, {}, NOTICE_SECONDS)
        except PlatformOffline:
            raise
        except PlatformRefused:
            return

    def _headers(self) -> dict[str, str]:
        uin = base64.b64encode(str(int.from_bytes(os.urandom(4), "big")).encode()).decode()
        headers = {**_client_headers(), "AuthorizationType": "ilink_bot_token", "X-WECHAT-UIN": uin}
        return {**headers, "Authorization": f"Bearer {self._token}"} if self._token else headers


def _client_headers() -> dict[str, str]:
    return {"iLink-App-Id": "bot", "iLink-App-ClientVersion": str(CLIENT_VERSION)}


def _read(request: ApiRequest, response: ApiResponse) -> Payload:
    if not response.body.strip():
        return {}
    answer = response.read_object()
    if answer is None:
        raise PlatformUncertain("what answers at base_url is not the iLink gateway of WeChat")
    code: Any = answer.get("ret") or answer.get("errcode") or 0
    if code == EXPIRED_CODE:
        raise SessionExpired
    if code == WINDOW_CODE and request.label == "sendmessage":
        raise WindowClosed
    if code:
        detail = f"{code} {text(answer, 'errmsg')}".strip()
        raise PlatformRefused(f"{SERVICE} refused {request.label}: {detail}"[:300], permanent=True)
    return answer


def _explain(response: ApiResponse) -> str:
    return text(response.read_object() or {}, "errmsg")
