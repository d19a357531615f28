"""Client of LINE's Messaging API, and the errors of the platform port that its answers become."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain, ReplyHandleRejected
from parlour.network.proxies import ProxySettings
from parlour.platforms._kit.http_client import ApiRequest, ApiResponse, PlatformHttpClient, check_status
from parlour.platforms._kit.payloads import Payload, number, objects_in, text

from .entities import SERVICE

BASE_URL, DATA_BASE_URL = "https://api.line.me", "https://api-data.line.me"
MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024
RETRY_KEY_HEADER = "X-Line-Retry-Key"
TRANSCODING_ATTEMPTS, TRANSCODING_INTERVAL_SECONDS = 10, 0.5
QUOTA_USED_UP = "the account has used up its messages of this month; LINE delivers only replies until the next month"


class LineUnauthorized(PlatformRefused):
    """Raised when LINE does not accept the access token."""


class LineClient:
    """Makes the calls of one official account. Content of messages comes from an address of its own."""

    def __init__(self, base_url: str, data_base_url: str, token: str, proxies: ProxySettings) -> None:
        self._http = PlatformHttpClient(SERVICE, base_url, proxies)
        self._data_url = data_base_url
        self._headers = {"Authorization": f"Bearer {token}"}

    def connection(self) -> AbstractAsyncContextManager[None]:
        return self._http.connection()

    async def get(self, path: str, label: str) -> Payload:
        """Makes a read call and returns its answer. Raises the errors of the platform port."""
        return await self._call(ApiRequest("GET", path, label, headers=self._headers))

    async def post(self, path: str, label: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Payload:
        headers = {**self._headers, **(headers or {})}
        return await self._call(ApiRequest("POST", path, label, json=body, headers=headers))

    async def reply(self, token: str, messages: list[Payload]) -> list[Payload]:
        """Sends messages under a reply token. Raises ReplyHandleRejected if LINE does not accept the token."""
        request = ApiRequest(
            "POST",
            "/v2/bot/message/reply",
            "reply",
            json={"replyToken": token, "messages": messages},
            headers=self._headers,
        )
        response = await self._http.send(request)
        if response.status == 400 and "reply token" in _explain(response).lower():
            raise ReplyHandleRejected("LINE accepts no reply to this message any more", permanent=True)
        return objects_in(await self._object(request, response), "sentMessages")

    async def push(self, chat_id: str, messages: list[Payload], retry_key: str | None) -> list[Payload]:
        """Sends messages of the account's own. Under the same retry key, LINE shows them once."""
        headers = {**self._headers, **({RETRY_KEY_HEADER: retry_key} if retry_key else {})}
        body = {"to": chat_id, "messages": messages}
        request = ApiRequest("POST", "/v2/bot/message/push", "push", json=body, headers=headers)
        response = await self._http.send(request)
        if response.status == 409 and retry_key:
            return objects_in(response.read_object() or {}, "sentMessages")
        return objects_in(await self._object(request, response), "sentMessages")

    async def content(self, message_id: str) -> bytes:
        """Returns the content of a file that a user sent. LINE prepares large ones for some seconds."""
        request = ApiRequest(
            "GET",
            f"{self._data_url}/v2/bot/message/{message_id}/content",
            "the content of a message",
            headers=self._headers,
            max_bytes=MAX_DOWNLOAD_BYTES,
        )
        for _ in range(TRANSCODING_ATTEMPTS):
            response = await self._http.send(request)
            if response.status in (404, 410):
                raise PlatformRefused("LINE does not have it any more", permanent=True)
            if response.status != 202:
                return (await self._checked(request, response)).body
            await asyncio.sleep(TRANSCODING_INTERVAL_SECONDS)
        raise PlatformRefused("LINE was still preparing it", permanent=True)

    async def quota(self) -> Payload:
        """Returns the number of messages of the month that may be sent and that were sent."""
        limit = await self.get("/v2/bot/message/quota", "message quota")
        used = await self.get("/v2/bot/message/quota/consumption", "message quota")
        return {
            "type": text(limit, "type"),
            "value": number(limit.get("value")),
            "used": number(used.get("totalUsage")),
        }

    async def _call(self, request: ApiRequest) -> Payload:
        return await self._object(request, await self._http.send(request))

    async def _object(self, request: ApiRequest, response: ApiResponse) -> Payload:
        answer = (await self._checked(request, response)).read_object()
        if answer is None:
            raise PlatformUncertain(f"what answers at the address of the {SERVICE} API is something else")
        return answer

    async def _checked(self, request: ApiRequest, response: ApiResponse) -> ApiResponse:
        if response.status == 401:
            raise LineUnauthorized("LINE does not accept the channel access token", permanent=True)
        if response.status == 429 and await self._is_quota_used_up(response):
            raise PlatformRefused(QUOTA_USED_UP, permanent=True)
        return check_status(SERVICE, request, response, _explain)

    async def _is_quota_used_up(self, response: ApiResponse) -> bool:
        """Returns whether a refusal means the messages of the month and not the rate."""
        if "monthly limit" in _explain(response):
            return True
        try:
            quota = await self.quota()
        except (PlatformRefused, PlatformUncertain):
            return False
        return quota["value"] is not None and quota["used"] is not None and quota["used"] >= quota["value"]


def _explain(response: ApiResponse) -> str:
    answer = response.read_object() or {}
    details = (
        f"{text(each, 'property')} {text(each, 'message')}".strip() for each in objects_in(answer, "details")[:3]
    )
    return "; ".join(filter(None, (text(answer, "message"), *details)))
