"""Hashes and checks passwords with argon2id, on a few threads of their own so that logins can't use up all others."""

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

MIN_PASSWORD_LENGTH = 10
"""Minimum number of characters of a password."""
MAX_PASSWORD_LENGTH = 1024
"""Maximum number of characters of a password."""
PASSES = 3
"""Number of argon2id passes over the memory."""
MEMORY_BYTES = 32 * 1024 * 1024
"""Memory of one argon2id computation in bytes."""
HASHING_THREADS = 2
"""Number of passwords that are hashed or checked at the same time."""
MAX_WAITING = 8
"""Number of passwords that may wait for a thread; each takes a few dozen milliseconds."""

Result = TypeVar("Result")


class PasswordRefused(Exception):
    """Raised when a password does not meet the requirements; the message states them."""


class PasswordsBusy(Exception):
    """Raised when too many passwords are waiting to be hashed or checked."""

    code = "rate_limited"

    def __init__(self) -> None:
        super().__init__("too many people log in at this moment; try again in a few seconds")


class PasswordHasher:
    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(HASHING_THREADS, "password")
        self._pending = 0

    async def hash(self, password: str) -> str:
        """Hashes a password. Raises PasswordRefused with what would be accepted, or PasswordsBusy."""
        if not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
            raise PasswordRefused(f"a password has {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters")
        if re.fullmatch(r"(.)\1*", password, re.DOTALL):
            raise PasswordRefused("a password has more than one character over and over")
        return await self._run(_digest, password)

    async def verify(self, password: str, stored_hash: str) -> bool:
        """Returns whether a password matches a stored hash. Raises PasswordsBusy."""
        return await self._run(_matches, password, stored_hash)

    async def _run(self, work: Callable[..., Result], *arguments: str) -> Result:
        if self._pending >= HASHING_THREADS + MAX_WAITING:
            raise PasswordsBusy
        self._pending += 1
        future = asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)
        future.add_done_callback(self._on_done)  # a callback, because the thread continues if the client disconnects
        return await asyncio.shield(future)

    def _on_done(self, future: "asyncio.Future[Result]") -> None:
        self._pending -= 1
        if not future.cancelled():
            future.exception()  # marks it as retrieved: the caller may have been cancelled


def _digest(password: str) -> str:
    from nacl.pwhash import argon2id

    return argon2id.str(password.encode(), PASSES, MEMORY_BYTES).decode()


def _matches(password: str, stored_hash: str) -> bool:
    from nacl.exceptions import InvalidkeyError
    from nacl.pwhash import argon2id

    try:
        return bool(argon2id.verify(stored_hash.encode(), password.encode(errors="replace")))
    except InvalidkeyError:
        return False
