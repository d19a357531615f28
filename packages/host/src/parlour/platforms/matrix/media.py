"""Downloads the files of messages from the homeserver and uploads files to send."""

import base64
import binascii
import mimetypes
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from parlour.core.platforms.port import FileContent, PlatformRefused, PlatformUncertain
from parlour_sdk.protocol.chain import Media

from .connection import HomeserverRefused, MatrixClient, require_field
from .content import MEDIA, STICKER, latest_content
from .values import Payload, mapping, number, text

MAX_DOWNLOAD_BYTES = 20 * 1024 * 1024
"""Maximum size in bytes of a file that is downloaded; the manifest states the same limit."""
DOWNLOAD_PATHS = ("/_matrix/client/v1/media/download", "/_matrix/media/v3/download")
"""Download paths, newest first; homeservers from before 2024 have only the second."""
CONFIG_PATHS = ("/_matrix/client/v1/media/config", "/_matrix/media/v3/config")
UNKNOWN_TYPE = "application/octet-stream"
Fetch = Callable[[str], Awaitable[FileContent]]
_MESSAGE_TYPES = {kind: name for name, kind in MEDIA.items()}


def file_uri(event: Payload) -> str:
    """Returns the address of a message's file; empty if it has none."""
    content = latest_content(event)
    of_a_file = event.get("type") == STICKER or content.get("msgtype") in MEDIA
    return text(content, "url") if of_a_file else ""


class MatrixFiles:
    """Downloads and uploads the files of one account."""

    def __init__(self, client: MatrixClient, fetch: Fetch) -> None:
        self._client = client
        self._fetch = fetch
        self._max_bytes: int | None = None

    async def fetch_base64(self, event: Payload) -> tuple[str, str]:
        """Returns a message's file as base64, or an empty string and the reason why there is none."""
        size = number(mapping(latest_content(event).get("info")).get("size"))
        if size is not None and size > MAX_DOWNLOAD_BYTES:
            return "", f"{_megabytes(size)}: more than the {_megabytes(MAX_DOWNLOAD_BYTES)} that are fetched"
        if "file" in latest_content(event) and not file_uri(event):
            return "", "it is encrypted"
        try:
            data = await self._download(file_uri(event))
        except (PlatformRefused, PlatformUncertain) as error:
            return "", f"it could not be fetched: {error}"
        return base64.b64encode(data).decode(), ""

    async def upload(self, data: bytes, name: str, mime_type: str) -> str:
        """Uploads a file and returns its address. Raises PlatformRefused if it is too large."""
        max_bytes = await self._largest()
        if max_bytes is not None and len(data) > max_bytes:
            sentence = (
                f"the file '{name[:100]}' has {_megabytes(len(data))}; this homeserver takes {_megabytes(max_bytes)}"
            )
            raise PlatformRefused(sentence, permanent=True)
        return require_field(await self._client.upload(data, mime_type or _guess_type(name), name), "content_uri")

    async def upload_message(self, media: Media) -> Payload:
        """Uploads a file and returns the content of the message that shows it."""
        data, name, mime_type = await self._read(media)
        kind = mime_type or _guess_type(name)
        name = name or f"{media.type.lower()}{mimetypes.guess_extension(kind) or ''}"
        info = {"mimetype": kind, "size": len(data)}
        uri = await self.upload(data, name, kind)
        message_type = _MESSAGE_TYPES[type(media)]  # type: ignore[index]
        return {"msgtype": message_type, "body": name, "filename": name, "url": uri, "info": info, "m.mentions": {}}

    async def _read(self, media: Media) -> tuple[bytes, str, str]:
        name, mime_type = media.name or "", media.mime_type or ""
        if media.artifact_id:
            content = await self._fetch(media.artifact_id)
            return content.data, name or content.name, mime_type or content.mime_type
        if not media.base64:
            reason = "a path of the Host's machine is not sent; give url, base64 or artifact_id instead"
            raise PlatformRefused(reason, permanent=True)
        try:
            return base64.b64decode(media.base64, validate=True), name, mime_type
        except (binascii.Error, ValueError):
            raise PlatformRefused(f"{media.type}.base64: this is not base64", permanent=True) from None

    async def _download(self, uri: str) -> bytes:
        server, _, media_id = uri.removeprefix("mxc://").partition("/")
        if not uri.startswith("mxc://") or not server or not media_id:
            raise PlatformRefused("its address is none of Matrix", permanent=True)
        new_path, old_path = (f"{each}/{quote(server, safe='')}/{quote(media_id, safe='')}" for each in DOWNLOAD_PATHS)
        try:
            return await self._client.download(new_path, MAX_DOWNLOAD_BYTES)
        except HomeserverRefused as error:
            if error.code != "M_UNRECOGNIZED":
                raise
        return await self._client.download(old_path, MAX_DOWNLOAD_BYTES)

    async def _largest(self) -> int | None:
        if self._max_bytes is None:
            for path in CONFIG_PATHS:
                try:
                    self._max_bytes = number((await self._client.get(path)).get("m.upload.size"))
                    break
                except HomeserverRefused:
                    continue
        return self._max_bytes


def _guess_type(name: str) -> str:
    return mimetypes.guess_type(name)[0] or UNKNOWN_TYPE


def _megabytes(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"
