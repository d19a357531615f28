"""Reads how long a platform asks to wait, in the forms that platforms use."""

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

MIN_RETRY_SECONDS = 0.05
MAX_RETRY_SECONDS = 3600.0
"""Maximum delay that is respected; a platform that asks for more is asked again after this time."""
_MILLISECOND_FIELDS = ("retry_after_ms",)
_SECOND_FIELDS = ("retry_after",)
_NESTED_FIELDS = ("parameters", "error", "data")


def retry_after_seconds(
    headers: Mapping[str, str], body: Mapping[str, Any] | None = None, now: float | None = None
) -> float | None:
    """Returns the delay in seconds that a response asks for, from its body or its headers; None if it names none.

    A body is more exact than the header, which many platforms round up to whole seconds.
    """
    delay = _from_body(body or {})
    if delay is None:
        delay = _number(headers.get("X-RateLimit-Reset-After"))
    if delay is None:
        delay = _from_header(headers.get("Retry-After", ""), time() if now is None else now)
    return None if delay is None else min(max(delay, MIN_RETRY_SECONDS), MAX_RETRY_SECONDS)


def _from_body(body: Mapping[str, Any]) -> float | None:
    nested = [body[name] for name in _NESTED_FIELDS if isinstance(body.get(name), dict)]
    for each in (body, *nested):
        for name in _MILLISECOND_FIELDS:
            if (milliseconds := _number(each.get(name))) is not None:
                return milliseconds / 1000
        for name in _SECOND_FIELDS:
            if (seconds := _number(each.get(name))) is not None:
                return seconds
    return None


def _from_header(value: str, now: float) -> float | None:
    seconds = _number(value.strip())
    if seconds is not None or not value:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):  # not a date, or one with an impossible year
        return None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str) or value == "":
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and number >= 0 else None
