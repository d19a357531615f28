"""Translates a OneBot implementation's failed response into a refusal: permanent, retryable, or uncertain."""

from typing import Any

from parlour.core.json_kinds import kind_name
from parlour.core.platforms.port import PlatformRefused, PlatformUncertain

from .values import number

MEANINGS = {
    404: "it does not know this action",
    100: "a parameter is missing or wrong, or the operation failed",
    102: "it has no permission for this, or what was named does not exist",
    103: "the operation failed",
    104: "its login is no longer valid; log the account in again",
    201: "it is too busy",
    1400: "the request was not understood",
    1401: "the access token is missing",
    1403: "the access token is wrong",
    1404: "it does not know this action",
    429: "too many requests",
    1429: "too many requests",
}
PERMANENT_RETCODES = frozenset((102, 404, 1400, 1401, 1403, 1404))
"""Retcodes after which another attempt would be refused in the same way.

Every other failure is retried, up to the five attempts of the outbox: implementations answer 1200 (and go-cqhttp 100)
for any failure. The guide has the table.
"""
BUSY_RETCODES = frozenset((201, 429, 1429))
_BUSY_WORDS = ("频繁", "too many", "rate limit", "frequent", "频率", "429")
MAX_RETRY_AFTER_SECONDS = 3600
"""Maximum delay in seconds before a retry; after that a message is too old to be sent."""
_OPEN_WORDS = ("timeout", "timed out", "超时")


def raise_for(action: str, answer: dict[str, Any]) -> None:
    """Raises PlatformRefused or PlatformUncertain unless the action was done.

    An implementation whose own client did not respond in time does not know whether it was done.
    """
    retcode = _code(answer.get("retcode", 0))
    if answer.get("status") in ("ok", "async") or (retcode in (0, 1) and answer.get("status") != "failed"):
        return
    said = _message(answer)
    sentence = f"OneBot refused {action}: {_reason(retcode, said)}"
    if any(word in said.lower() for word in _OPEN_WORDS):
        raise PlatformUncertain(sentence)
    if retcode in BUSY_RETCODES or any(word in said.lower() for word in _BUSY_WORDS):
        raise PlatformRefused(sentence, retry_after=_wait(answer))
    raise PlatformRefused(sentence, permanent=retcode in PERMANENT_RETCODES)


def _code(told: Any) -> int | str:
    """Returns the retcode as a number, or a description of its shape if it is none."""
    as_number = number(told)
    return as_number if as_number is not None else told if isinstance(told, int) else kind_name(told)


def _reason(retcode: int | str, said: str) -> str:
    meaning = MEANINGS.get(retcode, "") if isinstance(retcode, int) else ""
    told = " – ".join(part for part in (meaning, said) if part)
    return f"{told or 'it gave no reason; look at what it logs'} (retcode {retcode})"


def _message(answer: dict[str, Any]) -> str:
    for name in ("wording", "message", "msg"):
        words = answer.get(name)
        if isinstance(words, str) and words:
            return words[:300]
    return ""


def _wait(answer: dict[str, Any]) -> float | None:
    """Returns the delay that the implementation asks for, within limits; None means the usual retry delay."""
    data = answer.get("data")
    named = data.get("retry_after") if isinstance(data, dict) else None
    if isinstance(named, int | float) and not isinstance(named, bool) and named > 0:
        return float(min(named, MAX_RETRY_AFTER_SECONDS))
    return None
