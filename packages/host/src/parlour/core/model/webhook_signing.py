"""The signature of Standard Webhooks (version 1, symmetric): who receives a webhook can tell that it is ours."""

import base64
import binascii
import hashlib
import hmac

PREFIX = "whsec_"


def headers(secret: str, message_id: str, seconds: int, body: bytes) -> dict[str, str]:
    """The id stays the same over all tries; the time is that of the try."""
    named = {"webhook-id": message_id, "webhook-timestamp": str(seconds)}
    return {**named, "webhook-signature": signature(secret, message_id, seconds, body)} if secret else named


def signature(secret: str, message_id: str, seconds: int, body: bytes) -> str:
    signed = f"{message_id}.{seconds}.".encode() + body
    digest = hmac.new(_key(secret), signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def is_usable(secret: str) -> bool:
    """Whether the other side will make the same key of it: what looks as the standard has it must be so."""
    return not secret.startswith(PREFIX) or bool(_decoded(secret))


def _key(secret: str) -> bytes:
    """What is written as the standard has it is base64; any other text is the key itself."""
    return (_decoded(secret) if secret.startswith(PREFIX) else b"") or secret.encode()


def _decoded(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        return b""
