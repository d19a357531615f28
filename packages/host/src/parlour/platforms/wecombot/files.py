"""Fetches and decrypts the files in messages to AI bots. Their addresses expire after minutes."""

import asyncio
import base64
import binascii

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.platforms._kit.encrypted_callbacks import IV_BYTES, KEY_BYTES, decrypt_cbc
from parlour.platforms._kit.http_client import ApiRequest, PlatformHttpClient, check_status
from parlour.platforms._kit.payloads import Payload, text
from parlour.platforms._kit.webhooks import WebhookRejected
from parlour.platforms._kit.wechat_content import MIB, PROBLEM, file_keys

from .content import FILES_KEY, file_items
from .entities import SERVICE

MAX_FILE_BYTES = 20 * MIB
FILE_SECONDS = 30.0


class WecomBotFiles:
    """The files of one bot. A file without a key of its own is encrypted with that of the calls."""

    def __init__(self, http: PlatformHttpClient, encoded_key: str = "") -> None:
        self._http = http
        self._encoded_key = encoded_key

    async def complete(self, body: Payload) -> Payload:
        """Adds the contents of files to a message, or the reasons why there are none."""
        items = file_items(body)
        if not items:
            return body
        files = await asyncio.gather(*(self._fetch(item) for _, item in items))
        return {**body, FILES_KEY: {text(item, "url"): file for (_, item), file in zip(items, files, strict=True)}}

    async def _fetch(self, item: Payload) -> Payload:
        url = text(item, "url")
        if not url.startswith(("https://", "http://")):
            return {PROBLEM: "its address can't be used"}
        request = ApiRequest("GET", url, "the file", seconds=FILE_SECONDS, max_bytes=MAX_FILE_BYTES)
        try:
            response = check_status(SERVICE, request, await self._http.send(request), lambda _: "")
            content = _decrypt(text(item, "aeskey") or self._encoded_key, response.body)
            return file_keys(response, content, text(item, "filename"))
        except (PlatformRefused, PlatformUncertain, WebhookRejected) as error:
            return {PROBLEM: str(error)}


def _decrypt(encoded_key: str, data: bytes) -> bytes:
    """Decrypts a file with the key of its message. Raises WebhookRejected."""
    if not encoded_key:
        return data
    try:
        key = base64.b64decode(encoded_key + "=" * (-len(encoded_key) % 4))
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise WebhookRejected("the key of the file can't be used")
    return decrypt_cbc(key, key[:IV_BYTES], data)
