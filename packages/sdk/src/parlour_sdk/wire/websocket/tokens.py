"""Formats, parses and compares the bearer token of an upgrade request."""

import hmac
import re
from collections.abc import Sequence
from typing import Final

TOKEN_SHAPE: Final = "a token is made of visible ASCII characters, without spaces"
_TOKEN: Final = re.compile(r"[!-~]+")


def is_token(text: str) -> bool:
    return _TOKEN.fullmatch(text) is not None


def bearer(token: str) -> str:
    """Returns the value of the Authorization header."""
    return f"Bearer {token}"


def parse_bearer_token(authorization: Sequence[str]) -> str | None:
    """Returns the token of the only Authorization header; None if there is not exactly one well-formed token."""
    if len(authorization) != 1:
        return None
    scheme, _, token = authorization[0].partition(" ")
    return token if scheme.lower() == "bearer" and is_token(token) else None


def is_same(presented_token: str, token: str) -> bool:
    """Compares tokens in constant time, so that timing does not reveal how much of a token is right."""
    return hmac.compare_digest(presented_token.encode(), token.encode())
