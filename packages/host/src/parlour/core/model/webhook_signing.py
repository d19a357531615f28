"""Signs webhooks by Standard Webhooks (version 1, symmetric), so that the receiver can verify the origin."""

import base64
import binascii
import hashlib
import hmac

PREFIX = "whsec_"


def signature_headers(secret: str, message_id: str, seconds: int, body: bytes) -> dict[str, str]:
    """Returns the headers of one attempt. The id is the same for all attempts; the time is that of the attempt."""
    headers = {"webhook-id": message_id, "webhook-timestamp": str(seconds)}
    return {**headers, "webhook-signature": signature(secret, message_id, seconds, body)} if secret else headers


def signature(secret: str, message_id: str, seconds: int, body: bytes) -> str:
    signed = f"{message_id}.{seconds}.".encode() + body
    digest = hmac.new(_key(secret), signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def is_valid_secret(secret: str) -> bool:
    """Returns whether the receiver derives the same key from the secret: after the prefix it must be valid base64."""
    return not secret.startswith(PREFIX) or bool(_decoded(secret))


def _key(secret: str) -> bytes:
    """Returns the signing key: base64 after the standard's prefix, or any other text as it is."""
    return (_decoded(secret) if secret.startswith(PREFIX) else b"") or secret.encode()


def _decoded(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        return b""
