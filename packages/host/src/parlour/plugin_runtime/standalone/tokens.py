"""The tokens with which Hosts may use this runtime: created once, shown once, stored as digests in one small file."""

import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from parlour.file_locks import lock_file


class Token(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    token_id: str
    name: str
    digest: str
    created_at: int
    revoked_at: int = 0


class TokensUnreadable(Exception):
    """Raised when the file of tokens is damaged."""

    code = "tokens_unreadable"


_LIST = TypeAdapter(list[Token])


class Tokens:
    """Creates, finds and revokes tokens."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._valid: frozenset[str] = frozenset()
        self._valid_as_of: tuple[int, ...] | None = None

    def create(self, name: str, now: int) -> str:
        """Creates a token and returns it. It can't be read again."""
        secret = f"parlour_runtime_{secrets.token_urlsafe(32)}"
        token = Token(token_id=secrets.token_hex(6), name=name, digest=_digest(secret), created_at=now)
        with self._lock():
            self._write([*self.all(), token])
        return secret

    def all(self) -> list[Token]:
        try:
            return _LIST.validate_json(self._file.read_bytes())
        except FileNotFoundError:
            return []
        except ValidationError as error:
            message = f"{self._file} is damaged; delete it and make new tokens with 'parlour runtime token create'"
            raise TokensUnreadable(message) from error

    def revoke(self, token_id: str, now: int) -> bool:
        """Revokes a token. Returns False if there is no such valid token."""
        with self._lock():
            tokens = self.all()
            matches = [each for each in tokens if each.token_id == token_id and not each.revoked_at]
            changed = [each.model_copy(update={"revoked_at": now}) if each in matches else each for each in tokens]
            self._write(changed)
        return bool(matches)

    def find(self, secret: str) -> Token | None:
        """Returns the valid token with this secret, or None."""
        digest = _digest(secret)
        valid = [each for each in self.all() if not each.revoked_at]
        return next((each for each in valid if hmac.compare_digest(each.digest, digest)), None)

    def is_valid(self, token: Token) -> bool:
        """Returns whether the token is still active. The file is read again only after it changed."""
        stamp = self._stamp()
        if stamp != self._valid_as_of:
            self._valid = frozenset(each.token_id for each in self.all() if not each.revoked_at)
            self._valid_as_of = stamp
        return token.token_id in self._valid

    def _stamp(self) -> tuple[int, ...]:
        try:
            state = self._file.stat()
        except FileNotFoundError:
            return ()
        return (state.st_ino, state.st_mtime_ns, state.st_size)

    def _write(self, tokens: list[Token]) -> None:
        temporary = self._file.with_suffix(".new")
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as output:
            output.write(_LIST.dump_json(tokens, indent=1))
            output.flush()
            os.fsync(output.fileno())
        temporary.replace(self._file)

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        descriptor = os.open(self._file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            lock_file(descriptor)
            yield
        finally:
            os.close(descriptor)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
