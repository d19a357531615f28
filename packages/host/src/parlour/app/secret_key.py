"""Encrypts secrets with a key file that is stored beside the database, never inside it."""

import os
from base64 import b64decode, b64encode
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from parlour.core.secrets import SecretUnreadable

from .data_directory import DataDirectoryUnusable

if TYPE_CHECKING:
    from nacl.secret import SecretBox

KEY_BYTES = 32


class FileSecretBox:
    """Encrypts and decrypts with a key file, which is created on first use and readable only by its owner.

    Nothing is loaded before the first use.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def check(self) -> None:
        """Raises DataDirectoryUnusable if there is a file that is not a key. Never creates one."""
        try:
            size = self._path.stat().st_size if self._path.exists() else KEY_BYTES
        except OSError as error:
            raise _unusable(f"The key file '{self._path}' can't be read ({error.strerror})") from error
        if size != KEY_BYTES:
            problem = "is empty" if not size else f"has {size} bytes, not {KEY_BYTES}"
            raise _unusable(f"The key file '{self._path}' {problem}")

    def seal(self, secret: str) -> str:
        return b64encode(self._box.encrypt(secret.encode())).decode()

    def open(self, sealed: str) -> str:
        from nacl.exceptions import CryptoError

        try:
            return bytes(self._box.decrypt(b64decode(sealed, validate=True))).decode()
        except (CryptoError, ValueError) as error:
            raise SecretUnreadable from error

    @cached_property
    def _box(self) -> "SecretBox":
        from nacl.secret import SecretBox

        return SecretBox(self._key())

    def _key(self) -> bytes:
        try:
            return self._path.read_bytes()
        except FileNotFoundError:
            return self._create_key()

    def _create_key(self) -> bytes:
        """Creates the key file atomically. If two processes create it at the same time, the first one wins."""
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.urandom(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(temporary, self._path)
        except FileExistsError:
            pass
        finally:
            temporary.unlink()
        return self._path.read_bytes()


def _unusable(sentence: str) -> DataDirectoryUnusable:
    remedy = "put it back from a backup; without one, delete it and enter every secret again"
    return DataDirectoryUnusable("secret_key_unusable", f"{sentence}: {remedy}.")
