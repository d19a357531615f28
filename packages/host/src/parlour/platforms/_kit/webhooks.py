"""Verifies calls of platforms: signatures and tokens in constant time, timestamps, and repeated calls.

The signature is checked over the bytes as they arrived. Nothing of a call is used before it is verified.
"""

import base64
import hashlib
import hmac
from collections import OrderedDict
from collections.abc import Callable
from time import time
from typing import Literal

Digest = Literal["sha1", "sha256"]
SignatureEncoding = Literal["hex", "base64"]
MAX_REMEMBERED_CALLS = 10_000
ED25519_SEED_BYTES = 32


class WebhookRejected(Exception):
    """Raised for a call that is not from the platform, or too old. The text is a readable reason."""


def sign(key: str | bytes, content: bytes, digest: Digest = "sha256", encoding: SignatureEncoding = "hex") -> str:
    """Returns the HMAC of the content."""
    mac = hmac.new(_bytes(key), content, digest).digest()
    return mac.hex() if encoding == "hex" else base64.b64encode(mac).decode()


def verify_signature(
    signature: str,
    key: str | bytes,
    content: bytes,
    digest: Digest = "sha256",
    encoding: SignatureEncoding = "hex",
    prefix: str = "",
) -> None:
    """Checks an HMAC. `prefix` is what the platform writes before it, such as `v0=`. Raises WebhookRejected."""
    expected = sign(key, content, digest, encoding)
    given = signature.removeprefix(prefix) if signature.startswith(prefix) else ""
    if not _equal(given.lower() if encoding == "hex" else given, expected):
        raise WebhookRejected("the signature is missing or wrong")


def verify_token(given: str, expected: str) -> None:
    """Checks a token that the platform repeats in each call. Raises WebhookRejected; an empty token is never right."""
    if not expected or not _equal(given, expected):
        raise WebhookRejected("the token is missing or wrong")


def sorted_digest(*parts: str) -> str:
    """Returns the hexadecimal SHA-1 of the sorted and joined parts, as WeChat, WeCom and DingTalk sign calls."""
    return hashlib.sha1("".join(sorted(parts)).encode()).hexdigest()


def verify_sorted_digest(signature: str, *parts: str) -> None:
    """Checks a digest of sorted parts. Raises WebhookRejected."""
    if not _equal(signature.lower(), sorted_digest(*parts)):
        raise WebhookRejected("the signature is missing or wrong")


def ed25519_seed(secret: str) -> bytes:
    """Returns the seed that is made by repeating a secret, as QQ does. Raises ValueError if the secret is empty."""
    if not secret:
        raise ValueError("the secret is empty")
    data = secret.encode()
    return (data * (ED25519_SEED_BYTES // len(data) + 1))[:ED25519_SEED_BYTES]


def ed25519_sign(seed: bytes, content: bytes) -> str:
    """Returns the hexadecimal signature of the content."""
    from nacl.signing import SigningKey

    return SigningKey(seed).sign(content).signature.hex()


def ed25519_public_key(seed: bytes) -> str:
    """Returns the hexadecimal public key of a seed."""
    from nacl.signing import SigningKey

    return bytes(SigningKey(seed).verify_key).hex()


def verify_ed25519(signature: str, public_key: str, content: bytes) -> None:
    """Checks a hexadecimal signature with a hexadecimal public key. Raises WebhookRejected."""
    from nacl.exceptions import CryptoError
    from nacl.signing import VerifyKey

    try:
        VerifyKey(bytes.fromhex(public_key)).verify(content, bytes.fromhex(signature))
    except (CryptoError, ValueError, TypeError):
        raise WebhookRejected("the signature is missing or wrong") from None


class ReplayGuard:
    """Rejects calls with an old timestamp and recognizes repeated ones.

    Platforms repeat a call that was not acknowledged. A repetition is therefore reported, not rejected, so that the
    caller can acknowledge it again.
    """

    def __init__(
        self, window_seconds: float, clock: Callable[[], float] = time, max_calls: int = MAX_REMEMBERED_CALLS
    ) -> None:
        self._window_seconds = window_seconds
        self._clock = clock
        self._max_calls = max_calls
        self._seen: OrderedDict[str, float] = OrderedDict()

    def check_time(self, timestamp: str | float, per_second: int = 1) -> None:
        """Checks a timestamp in seconds, or in milliseconds with `per_second=1000`. Raises WebhookRejected."""
        try:
            age = self._clock() - float(timestamp) / per_second
        except ValueError:
            raise WebhookRejected("the timestamp is missing or no number") from None
        if not abs(age) <= self._window_seconds:  # also true for a timestamp that is not a number
            raise WebhookRejected(f"the timestamp is more than {self._window_seconds:g} s away from this Host's clock")

    def is_repeated(self, signature: str) -> bool:
        """Remembers a call that was handled, by its signature. Returns whether it was handled before."""
        now = self._clock()
        while self._seen and now - next(iter(self._seen.values())) > 2 * self._window_seconds:
            self._seen.popitem(last=False)
        if signature in self._seen:
            return True
        self._seen[signature] = now
        if len(self._seen) > self._max_calls:
            self._seen.popitem(last=False)
        return False


def _equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), expected.encode())


def _bytes(key: str | bytes) -> bytes:
    return key.encode() if isinstance(key, str) else key
