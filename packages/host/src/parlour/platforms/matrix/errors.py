"""Translates a homeserver's error responses into errors of the platform port, with a message for the operator."""

from collections.abc import Mapping

from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain

from .values import Payload, number, text

OFFLINE_RETRY_SECONDS = 1.0
DEFAULT_RETRY_SECONDS = 2.0
MAX_RETRY_AFTER_SECONDS = 3600.0
UNKNOWN_TOKEN = ("M_UNKNOWN_TOKEN", "M_MISSING_TOKEN")
GATEWAY_ERROR_STATUSES = (502, 503, 504)
"""HTTP statuses that a proxy returns when the homeserver behind it is offline."""


class TokenRefused(PlatformOffline):
    """Raised when the homeserver does not accept the access token; the operator has to replace it."""


def raise_for(what: str, status: int, headers: Mapping[str, str], answer: Payload, repeatable: bool) -> None:
    """Raises the error of an error response; returns for any other.

    `repeatable` is true for a request that is safe to repeat.
    """
    if status < 400:
        return
    code, said = text(answer, "errcode"), text(answer, "error")[:300]
    sentence = f"the homeserver refused {what}: {said or 'no reason was given'} ({code or f'HTTP status {status}'})"
    if code in UNKNOWN_TOKEN or (status == 401 and not code):
        raise TokenRefused(f"access_token: the homeserver does not accept it ({code or status}); log in anew")
    if status == 429 or code == "M_LIMIT_EXCEEDED":
        raise PlatformRefused(sentence, retry_after=_wait(headers, answer), everywhere=True)
    if status in GATEWAY_ERROR_STATUSES and repeatable:
        raise PlatformOffline(f"the homeserver is away (HTTP status {status})", retry_after=OFFLINE_RETRY_SECONDS)
    if status >= 500:
        raise PlatformUncertain(sentence)
    raise HomeserverRefused(sentence, code)


class HomeserverRefused(PlatformRefused):
    """Raised for a permanent refusal, with the homeserver's error code."""

    def __init__(self, reason: str, code: str) -> None:
        super().__init__(reason, permanent=True)
        self.code = code


def _wait(headers: Mapping[str, str], answer: Payload) -> float:
    milliseconds = number(answer.get("retry_after_ms"))
    if milliseconds is not None:
        return min(max(milliseconds / 1000, 0.05), MAX_RETRY_AFTER_SECONDS)
    told = headers.get("Retry-After", "")
    return min(float(told), MAX_RETRY_AFTER_SECONDS) if told.isdecimal() else DEFAULT_RETRY_SECONDS
