"""Files of the simulated WeCom: uploads in chunks, and encrypted files of users with an address each."""

import base64
import hashlib
import secrets
from urllib.parse import quote

from aiohttp import web
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from parlour.testing.errcode_simulator import Json

from .checks import FILES, WecomBotRefusal

BLOCK = 32
MAX_CHUNK_BYTES, MAX_CHUNKS = 512 * 1024, 100


def encrypt_file(data: bytes, key: bytes) -> bytes:
    padding = BLOCK - len(data) % BLOCK
    cipher = Cipher(algorithms.AES(key), modes.CBC(key[:16])).encryptor()
    return cipher.update(data + bytes([padding]) * padding) + cipher.finalize()


class BotFiles:
    """The files on both sides."""

    def __init__(self) -> None:
        self.address = ""
        self.media: dict[str, tuple[str, str, bytes]] = {}
        """Kind, name and content of uploaded files by media id."""
        self._uploads: dict[str, tuple[Json, dict[int, bytes]]] = {}
        self._served: dict[str, tuple[str, bytes]] = {}

    def add(self, name: str, data: bytes, path: str = "", key: bytes = b"") -> Json:
        """Encrypts a user's file and returns the fields with which a message reports it."""
        key = key or secrets.token_bytes(32)
        path = path or secrets.token_hex(8)
        self._served[path] = (name, encrypt_file(data, key))
        return {"url": f"{self.address}/files/{path}", "aeskey": base64.b64encode(key).decode().rstrip("=")}

    async def serve(self, request: web.Request) -> web.Response:
        found = self._served.get(quote(request.match_info["path"]))
        if found is None:
            return web.Response(status=404)
        disposition = f"attachment; filename*=UTF-8''{quote(found[0])}"
        return web.Response(body=found[1], headers={"Content-Disposition": disposition})

    def begin(self, body: Json) -> Json:
        if body.get("type") not in FILES or not body.get("filename"):
            raise WecomBotRefusal(40004, "invalid media type")
        if not 1 <= body.get("total_chunks", 0) <= MAX_CHUNKS or body.get("total_size", 0) < 5:
            raise WecomBotRefusal(40009, "invalid file size")
        upload_id = f"upload-{len(self._uploads) + 1}"
        self._uploads[upload_id] = (body, {})
        return {"upload_id": upload_id}

    def add_chunk(self, body: Json) -> Json:
        data = base64.b64decode(body["base64_data"], validate=True)
        if body.get("upload_id") not in self._uploads or not 1 <= len(data) <= MAX_CHUNK_BYTES:
            raise WecomBotRefusal(40058, "invalid chunk")
        self._uploads[body["upload_id"]][1][body["chunk_index"]] = data
        return {}

    def finish(self, body: Json) -> Json:
        if body.get("upload_id") not in self._uploads:
            raise WecomBotRefusal(40058, "invalid upload_id")
        described, chunks = self._uploads.pop(body["upload_id"])
        data = b"".join(chunks[index] for index in sorted(chunks))
        if len(chunks) != described["total_chunks"] or hashlib.md5(data).hexdigest() != described["md5"]:
            raise WecomBotRefusal(40058, "the file is incomplete")
        media_id = f"media-{len(self.media) + 1}"
        self.media[media_id] = (described["type"], described["filename"], data)
        return {"type": described["type"], "media_id": media_id, "created_at": 1779012345}
