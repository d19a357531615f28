"""Encrypts and decrypts the files of WeChat: AES-128 in ECB mode with the padding of PKCS #7.

It needs the package `cryptography`, which the extra `callbacks` installs and which is imported on first use.
"""

import base64
import binascii
from typing import TYPE_CHECKING

from parlour.core.platforms.port import PlatformRefused

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import Cipher, modes

KEY_BYTES = BLOCK_BYTES = 16
MISSING_LIBRARY = "encrypted files need the package cryptography; install parlour[callbacks]"


class FileUnreadable(ValueError):
    """Raised for a file that was not encrypted with the key that came with it."""


def encrypt_file(key: bytes, content: bytes) -> bytes:
    size = BLOCK_BYTES - len(content) % BLOCK_BYTES
    encryptor = _cipher(key).encryptor()
    encrypted: bytes = encryptor.update(content + bytes([size]) * size) + encryptor.finalize()
    return encrypted


def decrypt_file(key: bytes, encrypted: bytes) -> bytes:
    """Decrypts a file and removes its padding. Raises FileUnreadable."""
    if not encrypted or len(encrypted) % BLOCK_BYTES:
        raise FileUnreadable("the file is not encrypted in whole blocks")
    decryptor = _cipher(key).decryptor()
    padded: bytes = decryptor.update(encrypted) + decryptor.finalize()
    size = padded[-1]
    if not 1 <= size <= BLOCK_BYTES or padded[-size:] != bytes([size]) * size:
        raise FileUnreadable("the file was encrypted with another key")
    return padded[:-size]


def read_key(hex_key: str, encoded_key: str) -> bytes | None:
    """Returns the key of a received file; None if it is not encrypted. Raises FileUnreadable.

    `hex_key` has 32 hex digits. `encoded_key` is Base64 of the 16 bytes, or of their 32 hex digits.
    """
    if not hex_key and not encoded_key:
        return None
    try:
        raw = bytes.fromhex(hex_key) if hex_key else base64.b64decode(encoded_key, validate=True)
        key = bytes.fromhex(raw.decode("ascii")) if len(raw) == 2 * KEY_BYTES else raw
    except (binascii.Error, ValueError):
        raise FileUnreadable("the key of the file can't be read") from None
    if len(key) != KEY_BYTES:
        raise FileUnreadable("the key of the file has the wrong length")
    return key


def _cipher(key: bytes) -> "Cipher[modes.ECB]":
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        raise PlatformRefused(MISSING_LIBRARY, permanent=True) from None
    return Cipher(algorithms.AES(key), modes.ECB())
