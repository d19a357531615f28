"""Uploads and downloads the encrypted files of messages."""

import asyncio
import base64
import hashlib
import mimetypes
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import quote

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.network.proxies import ProxySettings
from parlour.platforms._kit.http_client import ApiRequest, ApiResponse, PlatformHttpClient, check_status
from parlour.platforms._kit.outgoing_files import OutgoingFile
from parlour.platforms._kit.payloads import Payload, object_in, text
from parlour.platforms._kit.wechat_content import CONTENT, FILE_NAME, FILE_TYPE, PROBLEM

from .addresses import is_trusted
from .client import WechatClient
from .entities import FILE, IMAGE, ITEM_FIELDS, MAX_FILE_BYTES, SERVICE, VIDEO, VOICE
from .media_cipher import KEY_BYTES, FileUnreadable, decrypt_file, encrypt_file, read_key

UPLOAD_KINDS = {IMAGE: 1, VIDEO: 2, FILE: 3}
FILE_SECONDS = 30.0
UPLOAD_ATTEMPTS = 3
DOWNLOADS = 3
FILE_KEY = "_file"
"""Key that is added to an item with a file: its content, or the reason why there is none."""
_PICTURES = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpg", b"GIF8": "gif", b"RIFF": "webp", b"BM": "bmp"}


class WechatMedia:
    """The files of one account."""

    def __init__(self, client: WechatClient, cdn_url: str, proxies: ProxySettings) -> None:
        self._client = client
        self._cdn_url = cdn_url
        self._http = PlatformHttpClient(SERVICE, cdn_url, proxies)
        self._slots = asyncio.Semaphore(DOWNLOADS)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[None]:
        async with self._http.connection():
            yield

    async def upload(self, kind: int, file: OutgoingFile, user_id: str) -> Payload:
        """Encrypts and uploads a file, and returns the item of the message that shows it."""
        key, file_key = os.urandom(KEY_BYTES), os.urandom(16).hex()
        encrypted = encrypt_file(key, file.data)
        wanted: Payload = {
            "filekey": file_key, "media_type": UPLOAD_KINDS[kind], "to_user_id": user_id, "rawsize": len(file.data),
            "rawfilemd5": hashlib.md5(file.data, usedforsecurity=False).hexdigest(), "filesize": len(encrypted),
            "no_need_thumb": True, "aeskey": key.hex(),
        }  # fmt: skip
        answer = await self._client.call("getuploadurl", wanted)
        parameter = quote(text(answer, "upload_param"), safe="")
        address = self._trusted(text(answer, "upload_full_url"))
        if not address and not parameter:
            raise PlatformRefused(f"{SERVICE} named no place for the file", permanent=True)
        path = address or f"/upload?encrypted_query_param={parameter}&filekey={file_key}"
        download = await self._upload_content(path, encrypted)
        encoded = base64.b64encode(key.hex().encode()).decode()
        media = {"encrypt_query_param": download, "aes_key": encoded, "encrypt_type": 1}
        return {"type": kind, ITEM_FIELDS[kind]: {"media": media, **_facts(kind, file, len(encrypted))}}

    async def _upload_content(self, path: str, encrypted: bytes) -> str:
        """Uploads the encrypted content; a server error is tried again, since nothing refers to the content yet."""
        headers = {"Content-Type": "application/octet-stream"}
        request = ApiRequest("POST", path, "upload", data=encrypted, headers=headers, seconds=FILE_SECONDS)
        for attempt in range(1, UPLOAD_ATTEMPTS + 1):
            response = await self._http.send(request)
            if response.status < 500 or attempt == UPLOAD_ATTEMPTS:
                break
        found = check_status(SERVICE, request, response, _explain).headers.get("x-encrypted-param", "")
        if not found:
            raise PlatformUncertain(f"{SERVICE} did not say where the uploaded file is")
        return found

    async def add_files(self, message: Payload) -> Payload:
        """Returns a message with the content of its files. Links expire, so they are fetched at once."""
        items = message.get("item_list")
        if not isinstance(items, list):
            return message
        return {**message, "item_list": list(await asyncio.gather(*map(self._add_file, items)))}

    async def _add_file(self, item: Payload) -> Payload:
        kind = item.get("type") if isinstance(item, dict) else None
        if not isinstance(kind, int) or kind not in (IMAGE, VOICE, FILE, VIDEO):
            return item
        own = object_in(item, ITEM_FIELDS[kind])
        try:
            async with self._slots, asyncio.timeout(FILE_SECONDS):
                content = await self._download(own)
        except (PlatformUncertain, TimeoutError):
            return {**item, FILE_KEY: {PROBLEM: f"it did not arrive from {SERVICE}"}}
        except PlatformRefused as refused:
            return {**item, FILE_KEY: {PROBLEM: refused.reason}}
        except FileUnreadable as error:
            return {**item, FILE_KEY: {PROBLEM: str(error)}}
        return {**item, FILE_KEY: {CONTENT: base64.b64encode(content).decode(), **_names(kind, own, content)}}

    async def _download(self, own: Payload) -> bytes:
        media = object_in(own, "media")
        key = read_key(text(own, "aeskey"), text(media, "aes_key"))
        address, parameter = self._trusted(text(media, "full_url")), quote(text(media, "encrypt_query_param"), safe="")
        if not address and not parameter:
            raise PlatformRefused("WeChat did not say where the file is", permanent=True)
        path = address or f"/download?encrypted_query_param={parameter}"
        request = ApiRequest("GET", path, "download", seconds=FILE_SECONDS, max_bytes=MAX_FILE_BYTES)
        content = check_status(SERVICE, request, await self._http.send(request), _explain).body
        return content if key is None else decrypt_file(key, content)

    def _trusted(self, address: str) -> str:
        return address if is_trusted(address, self._cdn_url) else ""


def _facts(kind: int, file: OutgoingFile, encrypted_bytes: int) -> Payload:
    """Returns what an item says about its file."""
    if kind == IMAGE:
        return {"mid_size": encrypted_bytes}
    if kind == VIDEO:
        return {"video_size": encrypted_bytes}
    return {"file_name": file.name, "len": str(len(file.data))}


def _names(kind: int, own: Payload, content: bytes) -> dict[str, str]:
    """Returns name and type of a received file, which only files have on the wire."""
    if kind == VOICE:
        return {FILE_NAME: "voice.silk", FILE_TYPE: "audio/silk"}
    if kind == VIDEO:
        return {FILE_NAME: "video.mp4", FILE_TYPE: "video/mp4"}
    if kind == IMAGE:
        ending = next((each for start, each in _PICTURES.items() if content.startswith(start)), "jpg")
        return {FILE_NAME: f"image.{ending}", FILE_TYPE: mimetypes.types_map.get(f".{ending}", f"image/{ending}")}
    name = text(own, "file_name") or "file.bin"
    return {FILE_NAME: name, FILE_TYPE: mimetypes.guess_type(name)[0] or "application/octet-stream"}


def _explain(response: ApiResponse) -> str:
    return str(response.headers.get("x-error-message", ""))
