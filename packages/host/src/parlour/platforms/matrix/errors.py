"""Translates a homeserver's error responses into errors of the platform port, with a message for the operator."""

from collections.abc import Mapping

from parlour.core.platforms.port import PlatformAway, PlatformRefused, PlatformUncertain

from .values import Payload, number, text

AWAY_SECONDS = 1.0
BUSY_SECONDS = 2.0
LONGEST_WAIT_SECONDS = 3600.0
UNKNOWN_TOKEN = ("M_UNKNOWN_TOKEN", "M_MISSING_TOKEN")
BEHIND = (502, 503, 504)
"""HTTP statuses that a proxy returns when the homeserver behind it is offline."""


class TokenRefused(PlatformAway):
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
    if status in BEHIND and repeatable:
        raise PlatformAway(f"the homeserver is away (HTTP status {status})", retry_after=AWAY_SECONDS)
    if status >= 500:
        raise PlatformUncertain(sentence)
    raise Refused(sentence, code)


class Refused(PlatformRefused):
    """Raised for a permanent refusal, with the homeserver's error code."""

    def __init__(self, reason: str, code: str) -> None:
        super().__init__(reason, permanent=True)
        self.code = code


def _wait(headers: Mapping[str, str], answer: Payload) -> float:
    milliseconds = number(answer.get("retry_after_ms"))
    if milliseconds is not None:
        return min(max(milliseconds / 1000, 0.05), LONGEST_WAIT_SECONDS)
    told = headers.get("Retry-After", "")
    return min(float(told), LONGEST_WAIT_SECONDS) if told.isdecimal() else BUSY_SECONDS
