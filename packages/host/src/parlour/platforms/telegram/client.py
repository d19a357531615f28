"""Client of the Bot API: method calls, files, and the errors of the platform port that its responses become.

Its callers interpret the results.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.network.proxies import ProxySettings
from parlour.platforms._kit.http_client import (
    RESPONSE_TIMEOUT_SECONDS,
    TRANSFER_TIMEOUT_SECONDS,
    ApiRequest,
    PlatformHttpClient,
    Upload,
)

from .entities import Payload, number, object_in, text

NOT_MODIFIED = "message is not modified"
_MEANINGS = {
    "bot was blocked by the user": "this person has blocked the bot",
    "user is deactivated": "this person's account no longer exists",
    "bot was kicked": "the bot is no longer in this group",
    "bot is not a member": "the bot is not in this group",
    "bot can't initiate conversation": "this person has not written to the bot yet, and a bot may not begin",
    "chat not found": "there is no such chat, or the bot is not in it",
    "message is too long": "the text is longer than the 4096 characters of a message",
    "message caption is too long": "the caption is longer than 1024 characters",
    "message text is empty": "there is no text in this message",
    "message to edit not found": "the message is not there any more",
    "message can't be edited": "this message can't be edited any more",
    "message to delete not found": "the message is not there any more",
    "file is too big": "the file is larger than the 20 MB that Telegram hands to bots",
    "Request Entity Too Large": "the file is larger than the 50 MB that Telegram takes from bots",
    "not enough rights": "the bot lacks the administrator's right for this",
    "CHAT_WRITE_FORBIDDEN": "the bot may not write in this chat",
    "need administrator rights": "the bot must be an administrator of the group for this",
    "can't parse entities": "the markup was not understood",
    "query is too old": "the button was pressed too long ago",
}
DEFAULT_RETRY_SECONDS = 5.0
MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024
MAX_UPLOAD_BYTES = 50 * 1024 * 1024


class GroupMigrated(PlatformRefused):
    """Raised when the group has become a supergroup, which has another id."""

    def __init__(self, chat_id: int) -> None:
        super().__init__("the group has become a supergroup and has another id", permanent=True)
        self.chat_id = chat_id


class Unauthorized(PlatformRefused):
    """Raised when Telegram does not know the token."""


class Forbidden(PlatformRefused):
    """Raised when the bot may not act in this chat: it was blocked or removed."""


class Conflict(PlatformRefused):
    """Raised when another program receives this bot's updates."""


class EntitiesRefused(PlatformRefused):
    """Raised when Telegram rejects the formatting; the text alone may be accepted."""


def raise_for(method: str, status: int, answer: Any) -> Any:
    """Returns the result of a successful response. Raises the error of any other."""
    if not isinstance(answer, dict):
        raise PlatformUncertain(f"Telegram answered {method} with something that can't be read (HTTP {status})")
    if answer.get("ok") is True:
        return answer.get("result")
    raise _refusal(method, number(answer.get("error_code")) or status, answer)


def _refusal(method: str, code: int, answer: Payload) -> Exception:
    description = (text(answer, "description") or "no reason was given")[:300]
    sentence = f"Telegram refused {method}: {_reason(description)}"
    parameters = object_in(answer, "parameters")
    new_chat_id = parameters.get("migrate_to_chat_id")
    if isinstance(new_chat_id, int):
        return GroupMigrated(new_chat_id)
    match code:
        case 401:
            return Unauthorized(sentence, permanent=True)
        case 404 if description == "Not Found":
            return Unauthorized(sentence, permanent=True)
        case 403:
            return Forbidden(sentence, permanent=True)
        case 409:
            return Conflict(sentence, retry_after=DEFAULT_RETRY_SECONDS)
        case 429:
            return PlatformRefused(
                sentence, retry_after=float(number(parameters.get("retry_after")) or DEFAULT_RETRY_SECONDS)
            )
    if code >= 500:
        return PlatformUncertain(f"Telegram failed at {method}: {description}")
    kind = (
        EntitiesRefused if "entit" in description.lower() and code == 400 and method != "getFile" else PlatformRefused
    )
    return kind(sentence, permanent=True)


def _reason(description: str) -> str:
    meaning = next((explanation for part, explanation in _MEANINGS.items() if part.lower() in description.lower()), "")
    return f"{meaning} ({description})" if meaning else description


class TelegramClient:
    """Client with the bot's token, which is a part of every address."""

    def __init__(self, base_url: str, token: str, proxies: ProxySettings) -> None:
        self._http = PlatformHttpClient("Telegram", base_url, proxies)
        self._token = token

    def connection(self) -> AbstractAsyncContextManager[None]:
        return self._http.connection()

    async def call(
        self, method: str, params: Payload, uploads: Sequence[Upload] = (), seconds: float = RESPONSE_TIMEOUT_SECONDS
    ) -> Any:
        """Calls a method and returns its result. Raises PlatformRefused, PlatformOffline or PlatformUncertain."""
        fields = {name: value for name, value in params.items() if value is not None}
        body: dict[str, Any] = {"form": fields, "uploads": uploads} if uploads else {"json": fields}
        response = await self._http.send(
            ApiRequest("POST", f"/bot{self._token}/{method}", method, seconds=seconds, **body)
        )
        return raise_for(method, response.status, response.read_object())

    async def download(self, path: str) -> bytes:
        """Downloads a file by the path that getFile returned."""
        request = ApiRequest(
            "GET",
            f"/file/bot{self._token}/{path}",
            "a file",
            seconds=TRANSFER_TIMEOUT_SECONDS,
            max_bytes=MAX_DOWNLOAD_BYTES,
        )
        response = await self._http.send(request)
        if response.status != 200:
            raise PlatformRefused(f"Telegram refused the file (HTTP {response.status})", permanent=True)
        return response.body
