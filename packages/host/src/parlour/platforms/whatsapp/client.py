"""Client of WhatsApp's Cloud API, and the errors of the platform port that its answers become."""

from contextlib import AbstractAsyncContextManager
from typing import Any
from urllib.parse import urlsplit

from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain, ReplyHandleRejected
from parlour.network.proxies import ProxySettings
from parlour.platforms._kit.http_client import (
    DEFAULT_RETRY_SECONDS,
    ApiRequest,
    ApiResponse,
    PlatformHttpClient,
    Upload,
    check_status,
)
from parlour.platforms._kit.outgoing_files import OutgoingFile
from parlour.platforms._kit.payloads import Payload, object_in, text
from parlour.platforms._kit.retry_after import retry_after_seconds
from parlour.platforms._kit.unreachable import OFFLINE_RETRY_SECONDS

from .entities import SERVICE, WINDOW_REASON

BASE_URL, API_VERSION = "https://graph.facebook.com", "v23.0"
MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024
PRODUCT = {"messaging_product": "whatsapp"}
PAIR_RETRY_SECONDS = 6.0
"""Seconds between messages to one user that WhatsApp asks for once a burst is used up."""
WINDOW_CLOSED = 131047
PAIR_RATE = 131056
ACCOUNT_RATES = frozenset((4, 80007, 130429, 131048))
TEMPORARY = frozenset((2, 131016, 133004))
"""Errors of WhatsApp's own servers, after which nothing was sent."""
UNAUTHORIZED = frozenset((0, 102, 190))
PERMISSIONS = frozenset((3, 10, *range(200, 300), 131005))
SENTENCES = {
    131021: "a number can't write to itself",
    131026: "the number has no WhatsApp, or has not accepted its terms",
    131030: "the number is not on the list of recipients of the test number",
    131031: "WhatsApp has locked the business account",
    131037: "the display name of the number is not approved",
    131042: "there is a problem with the payment method of the business account",
    131049: "WhatsApp holds the message back, so that the user does not get too many of businesses",
    131051: "WhatsApp does not support this kind of message",
    132001: "there is no approved template with this name and language",
    132015: "the template is paused",
    132016: "the template is disabled",
}
"""Errors whose cause an operator can remove or has to know."""


class WhatsAppUnauthorized(PlatformRefused):
    """Raised when WhatsApp does not accept the access token."""


class UnknownNumber(PlatformRefused):
    """Raised when there is no such phone number, or the token has no access to it."""


class WhatsAppClient:
    """Makes the calls of one phone number."""

    def __init__(self, base_url: str, version: str, number_id: str, token: str, proxies: ProxySettings) -> None:
        self._http = PlatformHttpClient(SERVICE, f"{base_url}/{version}", proxies)
        self._host = urlsplit(base_url)
        self._number_id = number_id
        self._headers = {"Authorization": f"Bearer {token}"}

    def connection(self) -> AbstractAsyncContextManager[None]:
        return self._http.connection()

    async def phone_number(self, *fields: str) -> Payload:
        """Returns fields of the phone number. Raises the errors of the platform port."""
        query = {"fields": ",".join(fields)}
        return await self._call(ApiRequest("GET", f"/{self._number_id}", "phone number", query=query))

    async def business_profile(self) -> Payload:
        query = {"fields": "about,address,description,email,profile_picture_url,websites,vertical"}
        path = f"/{self._number_id}/whatsapp_business_profile"
        answer = await self._call(ApiRequest("GET", path, "business profile", query=query))
        found = answer.get("data")
        return found[0] if isinstance(found, list) and found and isinstance(found[0], dict) else {}

    async def send(self, body: Payload, label: str = "a message") -> str:
        """Sends a message and returns its id. Raises ReplyHandleRejected if the window of the chat is closed."""
        answer = await self._post(f"/{self._number_id}/messages", label, {**PRODUCT, **body})
        sent = answer.get("messages")
        return text(sent[0], "id") if isinstance(sent, list) and sent and isinstance(sent[0], dict) else ""

    async def mark_read(self, message_id: str, shows_typing: bool) -> None:
        typing = {"typing_indicator": {"type": "text"}} if shows_typing else {}
        body = {**PRODUCT, "status": "read", "message_id": message_id, **typing}
        await self._post(f"/{self._number_id}/messages", "read receipt", body)

    async def upload(self, file: OutgoingFile) -> str:
        """Uploads a file and returns its id."""
        request = ApiRequest(
            "POST",
            f"/{self._number_id}/media",
            "upload",
            form={**PRODUCT, "type": file.mime_type},
            uploads=[Upload("file", file.data, file.name, file.mime_type)],
        )
        return text(await self._call(request), "id")

    async def download(self, media_id: str) -> bytes:
        """Returns the content of a file that a user sent. Its address works for five minutes only."""
        found = await self._call(ApiRequest("GET", f"/{media_id}", "media"))
        size = found.get("file_size")
        if isinstance(size, int) and size > MAX_DOWNLOAD_BYTES:
            raise PlatformRefused(
                f"it has {size / 2**20:.0f} MiB, more than the 20 MiB that are fetched", permanent=True
            )
        url = text(found, "url")
        if not self._is_trusted(url):
            raise PlatformRefused("its address is not protected by TLS", permanent=True)
        request = ApiRequest(
            "GET", url, "media", headers=self._headers, max_bytes=MAX_DOWNLOAD_BYTES, follow_redirects=False
        )
        return (await self._checked(request)).body

    def _is_trusted(self, url: str) -> bool:
        """Returns whether an address may be called with the token: over TLS, or at the configured server."""
        parts = urlsplit(url)
        return parts.scheme == "https" or (parts.scheme, parts.netloc) == (self._host.scheme, self._host.netloc)

    async def _post(self, path: str, label: str, body: Any) -> Payload:
        return await self._call(ApiRequest("POST", path, label, json=body))

    async def _call(self, request: ApiRequest) -> Payload:
        with_token = ApiRequest(
            request.method,
            request.path,
            request.label,
            json=request.json,
            form=request.form,
            uploads=request.uploads,
            query=request.query,
            headers=self._headers,
        )
        answer = (await self._checked(with_token)).read_object()
        if answer is None:
            raise PlatformUncertain(f"what answers at the address of the {SERVICE} API is something else")
        return answer

    async def _checked(self, request: ApiRequest) -> ApiResponse:
        """Returns a successful response. Raises the error that WhatsApp's code means."""
        response = await self._http.send(request)
        if response.status < 400:
            return response
        error = object_in(response.read_object() or {}, "error")
        code = error.get("code")
        if isinstance(code, int) and not isinstance(code, bool):
            _raise_known(code, error, request, response)
        return check_status(SERVICE, request, response, _explain)


def _raise_known(code: int, error: Payload, request: ApiRequest, response: ApiResponse) -> None:
    """Raises the error of a code that means more than its HTTP status."""
    if code in UNAUTHORIZED or response.status == 401:
        raise WhatsAppUnauthorized("WhatsApp does not accept the access token", permanent=True)
    if code in PERMISSIONS:
        reason = "the access token lacks a right; it needs whatsapp_business_messaging for this number"
        raise PlatformRefused(reason, permanent=True)
    if code == 100 and error.get("error_subcode") == 33:
        raise UnknownNumber("there is no such object, or the access token has no access to it", permanent=True)
    if code == WINDOW_CLOSED:
        raise ReplyHandleRejected(WINDOW_REASON, permanent=True)
    delay = retry_after_seconds(response.headers)
    if code == PAIR_RATE:
        reason = "WhatsApp accepts few messages to one user in a short time"
        raise PlatformRefused(reason, delay or PAIR_RETRY_SECONDS)
    if code in ACCOUNT_RATES:
        reason = f"WhatsApp refused {request.label}: there were too many calls"
        raise PlatformRefused(reason, delay or DEFAULT_RETRY_SECONDS, account_wide=True)
    if code in TEMPORARY:
        raise PlatformOffline("WhatsApp is not available for a moment", retry_after=delay or OFFLINE_RETRY_SECONDS)
    if code in SENTENCES:
        raise PlatformRefused(SENTENCES[code], permanent=True)


def _explain(response: ApiResponse) -> str:
    return explain_error(object_in(response.read_object() or {}, "error"))


def explain_error(error: Payload) -> str:
    """Returns the reason of an error of the API or of a report, in one sentence."""
    code = error.get("code")
    if isinstance(code, int) and code in SENTENCES:
        return SENTENCES[code]
    if code == WINDOW_CLOSED:
        return WINDOW_REASON
    parts = (text(error, "message") or text(error, "title"), text(object_in(error, "error_data"), "details"))
    return "; ".join(dict.fromkeys(filter(None, parts)))
