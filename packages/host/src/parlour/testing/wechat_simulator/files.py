"""The files of the simulated WeChat: encrypted content at a server of its own, found by a parameter."""

import base64
import hashlib
import itertools
from collections.abc import Callable
from typing import Any

from aiohttp import web
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7

Json = dict[str, Any]
SAMPLE_KEY = bytes(range(16))


def encrypted(key: bytes, content: bytes) -> bytes:
    padder = PKCS7(128).padder()
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    result: bytes = encryptor.update(padder.update(content) + padder.finalize()) + encryptor.finalize()
    return result


def decrypted(key: bytes, content: bytes) -> bytes:
    decryptor, unpadder = Cipher(algorithms.AES(key), modes.ECB()).decryptor(), PKCS7(128).unpadder()
    result: bytes = unpadder.update(decryptor.update(content) + decryptor.finalize()) + unpadder.finalize()
    return result


class SimulatedFiles:
    def __init__(self, fail: Callable[[str], web.Response | None]) -> None:
        self._fail = fail
        self._numbers = itertools.count(1)
        self.base_url = ""
        self.stored: dict[str, bytes] = {}
        """Encrypted content by its parameter."""
        self.uploads: dict[str, Json] = {}
        """Announced uploads by their parameter."""
        self.whole_addresses = False
        """True if places of files are named as whole addresses."""

    def add(self, content: bytes, parameter: str = "", key: bytes = SAMPLE_KEY) -> Json:
        """Stores a file of a user and returns the `media` of its item."""
        parameter = parameter or f"FILE_{next(self._numbers)}"
        self.stored[parameter] = encrypted(key, content)
        address = {"full_url": f"{self.base_url}/download?encrypted_query_param={parameter}"}
        place = address if self.whole_addresses else {"encrypt_query_param": parameter}
        return {**place, "aes_key": base64.b64encode(key).decode(), "encrypt_type": 1}

    def announce(self, body: Json) -> Json:
        parameter = f"UP+{next(self._numbers)}/="
        self.uploads[parameter] = body
        if self.whole_addresses:
            number = len(self.uploads)
            self.uploads[str(number)] = body
            return {
                "upload_full_url": f"{self.base_url}/upload?encrypted_query_param={number}&filekey={body['filekey']}"
            }
        return {"upload_param": parameter}

    async def upload(self, request: web.Request) -> web.Response:
        if (failed := self._fail("upload")) is not None:
            return failed
        announced = self.uploads.pop(request.query.get("encrypted_query_param", ""), None)
        content = await request.read()
        problem = ""
        if announced is None or request.query.get("filekey") != announced["filekey"]:
            problem = "the upload was not announced"
        elif len(content) != announced["filesize"] or request.content_type != "application/octet-stream":
            problem = "the content is not the announced one"
        else:
            plain = decrypted(bytes.fromhex(announced["aeskey"]), content)
            if hashlib.md5(plain, usedforsecurity=False).hexdigest() != announced["rawfilemd5"]:
                problem = "rawfilemd5"
        if problem:
            return web.Response(status=400, headers={"x-error-message": problem})
        parameter = f"FILE+{next(self._numbers)}/="
        self.stored[parameter] = content
        return web.Response(headers={"x-encrypted-param": parameter})

    async def download(self, request: web.Request) -> web.Response:
        if (failed := self._fail("download")) is not None:
            return failed
        content = self.stored.get(request.query.get("encrypted_query_param", ""))
        if content is None or "Authorization" in request.headers:
            return web.Response(status=404, headers={"x-error-message": "there is no such file"})
        return web.Response(body=content)

    def content(self, media: Json) -> bytes:
        """Returns a file that the bot sent, as WeChat shows it."""
        key = bytes.fromhex(base64.b64decode(media["aes_key"]).decode())
        return decrypted(key, self.stored[media["encrypt_query_param"]])
