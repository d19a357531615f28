"""Encrypts secrets with key files that are stored beside the database, never inside it.

There is one key file, `secret.key`, except while the key is replaced: see `SecretKeyFiles`.
"""

import os
from base64 import b64decode, b64encode
from pathlib import Path
from typing import TYPE_CHECKING

from parlour.core.secrets import SecretUnreadable

from .data_directory import DataDirectoryUnusable

if TYPE_CHECKING:
    from nacl.secret import SecretBox

KEY_BYTES = 32


class SecretKeyFiles:
    """The key file, and a second one while the key is being replaced.

    | files | state |
    | --- | --- |
    | `secret.key` | normal |
    | `secret.key`, `secret.key.next` | the next key seals new secrets, and stored secrets are sealed with it again |
    | `secret.key`, `secret.key.previous` | every stored secret was sealed with the new key; the previous one is kept |
    | | until no request can store an older value any more |

    A file appears and changes its name in one step, so a process that stops at any moment leaves one of these states
    (or, between the second and the third, all three files; the previous one equals `secret.key` then).
    """

    def __init__(self, path: Path) -> None:
        self.current = path
        self.next = path.with_name(f"{path.name}.next")
        self.previous = path.with_name(f"{path.name}.previous")

    def read(self) -> list[bytes]:
        """Returns the keys, the one that seals first; creates a key if there is none."""
        keys = [key for path in (self.next, self.current, self.previous) if (key := _read(path))]
        if not self.current.exists():
            return [*keys, _create(self.current)]
        return list(dict.fromkeys(keys))

    def is_replacing(self) -> bool:
        """Returns whether a replacement was begun and is not complete."""
        return self.next.exists() or self.previous.exists()

    def begin(self) -> None:
        """Creates the next key. It has no effect if a replacement was already begun."""
        if not self.is_replacing():
            _read(self.current) or _create(self.current)
            _create(self.next)

    def promote(self) -> None:
        """Makes the next key the current one, and keeps the current one as the previous."""
        if not self.next.exists():
            return
        self.previous.unlink(missing_ok=True)
        os.link(self.current, self.previous)
        os.rename(self.next, self.current)
        _sync_folder(self.current.parent)

    def forget_previous(self) -> None:
        """Deletes the previous key, and what processes that were killed have left of keys."""
        self.previous.unlink(missing_ok=True)
        for temporary in self.current.parent.glob(f".{self.current.name}*.*"):
            if not _is_written(temporary):
                temporary.unlink(missing_ok=True)
        _sync_folder(self.current.parent)


class FileSecretBox:
    """Encrypts and decrypts with a key file, which is created on first use and readable only by its owner.

    Nothing is loaded before the first use.
    """

    def __init__(self, path: Path) -> None:
        self.files = SecretKeyFiles(path)
        self._boxes: list[SecretBox] = []
        """The boxes of the keys that were read last, the one that seals first."""

    def check(self) -> None:
        """Raises DataDirectoryUnusable if there is a file that is not a key. Never creates one."""
        for path in (self.files.current, self.files.next, self.files.previous):
            _check(path)

    def digests(self) -> list[str]:
        """Returns digests of the keys, the one that seals first. They say nothing about the keys."""
        from hashlib import sha256

        return [sha256(b"parlour secret key" + key).hexdigest() for key in self.files.read()]

    def seal(self, secret: str) -> str:
        """Seals a secret with the newest key. The files are read each time, since a replacement may have begun."""
        return b64encode(self._read_boxes()[0].encrypt(secret.encode())).decode()

    def open(self, sealed: str) -> str:
        secret = self._open(sealed, self._boxes)
        if secret is None:
            secret = self._open(sealed, self._read_boxes())
        if secret is None:
            raise SecretUnreadable
        return secret

    def reseal(self, text: str) -> str | None:
        """Returns a secret that an older key sealed, sealed with the newest one; None for any other text."""
        newest, *older = self._read_boxes()
        secret = self._open(text, older)
        return None if secret is None else b64encode(newest.encrypt(secret.encode())).decode()

    def _read_boxes(self) -> list["SecretBox"]:
        from nacl.secret import SecretBox

        self._boxes = [SecretBox(key) for key in self.files.read()]
        return self._boxes

    @staticmethod
    def _open(sealed: str, boxes: list["SecretBox"]) -> str | None:
        from nacl.exceptions import CryptoError

        for box in boxes:
            try:
                return bytes(box.decrypt(b64decode(sealed, validate=True))).decode()
            except (CryptoError, ValueError):
                continue
        return None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _check(path: Path) -> None:
    try:
        size = path.stat().st_size if path.exists() else KEY_BYTES
    except OSError as error:
        raise _unusable(f"The key file '{path}' can't be read ({error.strerror})") from error
    if size != KEY_BYTES:
        problem = "is empty" if not size else f"has {size} bytes, not {KEY_BYTES}"
        raise _unusable(f"The key file '{path}' {problem}")


def _create(path: Path) -> bytes:
    """Creates a key file atomically. If two processes create it at the same time, the first one wins."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(os.urandom(KEY_BYTES))
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()
    _sync_folder(path.parent)
    return path.read_bytes()


def _is_written(temporary: Path) -> bool:
    """Returns true while another process may be about to give this file its name."""
    process_id = temporary.suffix.removeprefix(".")
    if not process_id.isdecimal():
        return True
    try:
        os.kill(int(process_id), 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return int(process_id) != os.getpid()


def _sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable: a secret must never be sealed with a key that a power failure removes."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unusable(sentence: str) -> DataDirectoryUnusable:
    remedy = "put it back from a backup; without one, delete it and enter every secret again"
    return DataDirectoryUnusable("secret_key_unusable", f"{sentence}: {remedy}.")
