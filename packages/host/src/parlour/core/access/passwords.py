"""Passwords as argon2id digests. One takes a moment to make or check, so that happens beside the event loop."""

import asyncio
import re

SHORTEST = 10
LONGEST = 1024
PASSES = 3
MEMORY_BYTES = 32 * 1024 * 1024


class PasswordRefused(Exception):
    """The password can't be taken."""


async def digest(password: str) -> str:
    """Raises PasswordRefused with what would be accepted."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise PasswordRefused(f"a password has {SHORTEST} to {LONGEST} characters")
    if re.fullmatch(r"(.)\1*", password, re.DOTALL):
        raise PasswordRefused("a password has more than one character over and over")
    return await asyncio.to_thread(_digest, password)


async def matches(password: str, kept: str) -> bool:
    return await asyncio.to_thread(_matches, password, kept)


def _digest(password: str) -> str:
    from nacl.pwhash import argon2id

    return argon2id.str(password.encode(), PASSES, MEMORY_BYTES).decode()


def _matches(password: str, kept: str) -> bool:
    from nacl.exceptions import InvalidkeyError
    from nacl.pwhash import argon2id

    try:
        return bool(argon2id.verify(kept.encode(), password.encode(errors="replace")))
    except InvalidkeyError:
        return False
