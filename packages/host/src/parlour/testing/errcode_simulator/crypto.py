"""Signs, encrypts and decrypts as the platform does. Written apart from the adapters, and compared with wechatpy."""

import base64
import hashlib
import secrets
import struct
from collections.abc import Mapping
from xml.etree import ElementTree

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

BLOCK = 32


class CallbackCrypto:
    """The encryption between the platform and one receiver."""

    def __init__(self, token: str, encoding_aes_key: str, receiver: str) -> None:
        self.token = token
        self.key = base64.b64decode(encoding_aes_key + "=")
        self.receiver = receiver

    def signature(self, timestamp: str, nonce: str, *more: str) -> str:
        return hashlib.sha1("".join(sorted([self.token, timestamp, nonce, *more])).encode()).hexdigest()

    def encrypt(self, content: str) -> str:
        data = content.encode()
        plain = secrets.token_bytes(16) + struct.pack(">I", len(data)) + data + self.receiver.encode()
        padding = BLOCK - len(plain) % BLOCK
        cipher = Cipher(algorithms.AES(self.key), modes.CBC(self.key[:16])).encryptor()
        return base64.b64encode(cipher.update(plain + bytes([padding]) * padding) + cipher.finalize()).decode()

    def decrypt(self, encrypted: str) -> str:
        cipher = Cipher(algorithms.AES(self.key), modes.CBC(self.key[:16])).decryptor()
        padded = cipher.update(base64.b64decode(encrypted)) + cipher.finalize()
        plain = padded[: -padded[-1]]
        (length,) = struct.unpack(">I", plain[16:20])
        assert plain[20 + length :].decode() == self.receiver, "the reply is for another receiver"
        return plain[20 : 20 + length].decode()


def xml_of(fields: Mapping[str, str]) -> str:
    """Returns a message in the platform's XML."""
    root = ElementTree.Element("xml")
    for name, value in fields.items():
        ElementTree.SubElement(root, name).text = value
    return ElementTree.tostring(root, encoding="unicode")
