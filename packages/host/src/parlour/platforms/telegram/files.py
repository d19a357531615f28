"""Downloads the files that users send. Their addresses contain the bot's token, so the Host gets the content instead.

A file that can't be downloaded gets a reason; the message itself never waits long and never fails.
"""

import asyncio
import base64
from typing import Any

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain

from .client import MAX_DOWNLOAD_BYTES, TelegramClient
from .message_parts import CONTENT, MEDIA, PICTURE, PROBLEM, STICKER
from .values import Payload, number, object_in, text

DOWNLOAD_CONCURRENCY = 3
DOWNLOAD_TIMEOUT_SECONDS = 30.0
TOO_LARGE = "it is larger than the 20 MB that Telegram hands to bots"


class TelegramFiles:
    """Downloads the files of incoming messages."""

    def __init__(self, client: TelegramClient) -> None:
        self._client = client
        self._room = asyncio.Semaphore(DOWNLOAD_CONCURRENCY)

    async def add_contents(self, message: Payload) -> Payload:
        """Returns the message with the content of its files."""
        kinds = [kind for kind in MEDIA if message.get(kind)]
        if "animation" in kinds and "document" in kinds:
            kinds.remove("document")  # the same file, for older clients
        filled = {kind: await self._filled(kind, message[kind]) for kind in kinds}
        sticker = object_in(message, STICKER)
        if sticker:
            filled[STICKER] = await self._with_picture(sticker)
        return {**message, **filled}

    async def _with_picture(self, sticker: Payload) -> Payload:
        """Adds the sticker itself if it is a picture, or the preview of an animated one."""
        moves = sticker.get("is_animated") or sticker.get("is_video")
        picture = object_in(sticker, "thumbnail") if moves else sticker
        return {**sticker, PICTURE: await self._file(picture)} if picture else sticker

    async def _filled(self, kind: str, told: Any) -> Any:
        if kind == "photo":
            sizes = [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []
            return [await self._file(sizes[-1])] if sizes else told
        return await self._file(told) if isinstance(told, dict) else told

    async def _file(self, file: Payload) -> Payload:
        if (number(file.get("file_size")) or 0) > MAX_DOWNLOAD_BYTES:
            return {**file, PROBLEM: TOO_LARGE}
        try:
            async with self._room, asyncio.timeout(DOWNLOAD_TIMEOUT_SECONDS):
                data = await self._download(file)
        except PlatformRefused as refused:
            return {**file, PROBLEM: TOO_LARGE if "too big" in refused.reason else "Telegram did not hand it over"}
        except (PlatformUncertain, TimeoutError):
            return {**file, PROBLEM: "it did not arrive from Telegram"}
        return {**file, "file_size": len(data), CONTENT: base64.b64encode(data).decode()}

    async def _download(self, file: Payload) -> bytes:
        told = await self._client.call("getFile", {"file_id": file.get("file_id")})
        place = text(told, "file_path") if isinstance(told, dict) else None
        if place is None:
            raise PlatformRefused("Telegram told no place of the file", permanent=True)
        return await self._client.download(place)
