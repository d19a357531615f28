"""The token in an upgrade request: how it is written, and whether it is the right one."""

import hmac
import re
from collections.abc import Sequence
from typing import Final

TOKEN_SHAPE: Final = "a token is made of visible ASCII characters, without spaces"
_TOKEN: Final = re.compile(r"[!-~]+")


def is_token(text: str) -> bool:
    return _TOKEN.fullmatch(text) is not None


def bearer(token: str) -> str:
    """The value of the Authorization header."""
    return f"Bearer {token}"


def presented(authorization: Sequence[str]) -> str | None:
    """The token in the one Authorization header that came; whoever looks it up may rely on its shape."""
    if len(authorization) != 1:
        return None
    scheme, _, token = authorization[0].partition(" ")
    return token if scheme.lower() == "bearer" and is_token(token) else None


def is_same(presented_token: str, token: str) -> bool:
    """How much of it is right takes no time to tell."""
    return hmac.compare_digest(presented_token.encode(), token.encode())
