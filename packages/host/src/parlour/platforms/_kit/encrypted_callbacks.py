"""Decrypts and encrypts callbacks: AES-256-CBC as WeCom, WeChat, DingTalk and Lark use it, in XML and JSON.

It needs the package `cryptography`, which the extra `callbacks` installs and which is imported on first use.
"""

import base64
import binascii
import hashlib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from parlour.core.platforms.port import AdapterStopped

from .webhooks import WebhookRejected, sorted_digest, verify_sorted_digest

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import Cipher, modes

KEY_BYTES = 32
IV_BYTES = 16
AES_BLOCK_BYTES = 16
PADDED_BLOCK_BYTES = 32
"""WeCom, WeChat and DingTalk pad to twice the block size of AES."""
RANDOM_PREFIX_BYTES = 16
LENGTH_BYTES = 4
ENCODED_KEY_LENGTH = 43
MAX_XML_FIELDS = 200
MISSING_LIBRARY = "encrypted callbacks need the package cryptography; install parlour[callbacks]"
UNREADABLE = "the encrypted callback can't be decrypted; check the key"


def decrypt_cbc(key: bytes, iv: bytes, encrypted: bytes, padded_block: int = PADDED_BLOCK_BYTES) -> bytes:
    """Decrypts and removes the padding. Raises WebhookRejected for anything that was not encrypted with this key."""
    if not encrypted or len(encrypted) % AES_BLOCK_BYTES:
        raise WebhookRejected(UNREADABLE)
    decryptor = _cipher(key, iv).decryptor()
    padded: bytes = decryptor.update(encrypted) + decryptor.finalize()
    size = padded[-1]
    if not 1 <= size <= padded_block or size > len(padded) or padded[-size:] != bytes([size]) * size:
        raise WebhookRejected(UNREADABLE)
    return padded[:-size]


def encrypt_cbc(key: bytes, iv: bytes, content: bytes, padded_block: int = PADDED_BLOCK_BYTES) -> bytes:
    """Adds the padding and encrypts."""
    size = padded_block - len(content) % padded_block
    encryptor = _cipher(key, iv).encryptor()
    encrypted: bytes = encryptor.update(content + bytes([size]) * size) + encryptor.finalize()
    return encrypted


def decrypt_with_secret(secret: str, encrypted: str) -> bytes:
    """Decrypts a callback of Lark: the key is the SHA-256 of a secret, and the content begins with its IV."""
    data = _decode_base64(encrypted)
    return decrypt_cbc(_secret_key(secret), data[:IV_BYTES], data[IV_BYTES:], AES_BLOCK_BYTES)


def encrypt_with_secret(secret: str, content: bytes) -> str:
    """Encrypts as Lark does."""
    iv = os.urandom(IV_BYTES)
    return base64.b64encode(iv + encrypt_cbc(_secret_key(secret), iv, content, AES_BLOCK_BYTES)).decode()


class CallbackCipher:
    """The encryption that WeCom, WeChat official accounts and DingTalk share.

    `receiver` is the id that a message must name: the company, the app, or nothing for AI bots of WeCom.
    """

    def __init__(self, token: str, encoded_key: str, receiver: str) -> None:
        self._token = token
        self._key = _parse_key(encoded_key)
        self._receiver = receiver.encode()

    def signature(self, timestamp: str, nonce: str, encrypted: str) -> str:
        return sorted_digest(self._token, timestamp, nonce, encrypted)

    def decrypt(self, query: Mapping[str, str], encrypted: str) -> bytes:
        """Verifies and decrypts a callback, or the `echostr` of a check of the address. Raises WebhookRejected.

        `query` has the fields of the address. A space in `encrypted` is a `+` that was not quoted in an address.
        """
        encrypted = encrypted.replace(" ", "+")
        timestamp, nonce = query.get("timestamp", ""), query.get("nonce", "")
        signature = query.get("msg_signature") or query.get("signature", "")
        verify_sorted_digest(signature, self._token, timestamp, nonce, encrypted)
        content = decrypt_cbc(self._key, self._key[:IV_BYTES], _decode_base64(encrypted))
        start = RANDOM_PREFIX_BYTES + LENGTH_BYTES
        end = start + int.from_bytes(content[RANDOM_PREFIX_BYTES:start], "big")
        if len(content) < start or end > len(content):
            raise WebhookRejected(UNREADABLE)
        if content[end:] != self._receiver:
            raise WebhookRejected("the callback is for another account")
        return content[start:end]

    def encrypt(self, content: bytes) -> str:
        length = len(content).to_bytes(LENGTH_BYTES, "big")
        data = os.urandom(RANDOM_PREFIX_BYTES) + length + content + self._receiver
        return base64.b64encode(encrypt_cbc(self._key, self._key[:IV_BYTES], data)).decode()

    def encrypted_reply(self, content: bytes, timestamp: str, nonce: str) -> dict[str, str]:
        """Encrypts a reply and returns its fields: Encrypt, MsgSignature, TimeStamp and Nonce."""
        encrypted = self.encrypt(content)
        signature = self.signature(timestamp, nonce, encrypted)
        return {"Encrypt": encrypted, "MsgSignature": signature, "TimeStamp": timestamp, "Nonce": nonce}


def read_xml(body: bytes) -> dict[str, str]:
    """Returns the fields of a flat XML message. Raises WebhookRejected; a document type is refused, as it could make
    the parser expand entities without end.
    """
    from xml.etree.ElementTree import ParseError, fromstring

    if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise WebhookRejected("the callback has a document type, which is refused")
    try:
        root = fromstring(body)
    except (ParseError, ValueError):
        raise WebhookRejected("the callback is no XML") from None
    if len(root) > MAX_XML_FIELDS:
        raise WebhookRejected(f"the callback has more than {MAX_XML_FIELDS} fields")
    return {child.tag: child.text or "" for child in root}


def write_xml(fields: Mapping[str, str]) -> str:
    """Returns a flat XML message with these fields."""
    return f"<xml>{''.join(f'<{name}>{escape(value)}</{name}>' for name, value in fields.items())}</xml>"


def _parse_key(encoded: str) -> bytes:
    try:
        key = base64.b64decode(f"{encoded}=", validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(encoded) != ENCODED_KEY_LENGTH or len(key) != KEY_BYTES:
        raise AdapterStopped(f"the key of encrypted callbacks must have {ENCODED_KEY_LENGTH} letters and digits")
    return key


def _secret_key(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _decode_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise WebhookRejected(UNREADABLE) from None


def _cipher(key: bytes, iv: bytes) -> "Cipher[modes.CBC]":
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        raise AdapterStopped(MISSING_LIBRARY) from None
    return Cipher(algorithms.AES(key), modes.CBC(iv))
