"""Defuses mentions of everyone in model output: they stay readable but notify no users."""

import re
from functools import cache

ZERO_WIDTH = "\u200b"


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


def defuse_mentions(text: str, expression: str) -> str:
    """Inserts an invisible break into each mention. `expression` is the pattern of such mentions on the platform."""
    if not expression or (pattern := _pattern(expression)).search(text) is None:
        return text
    broken = pattern.sub(_broken, text)
    return broken if pattern.search(broken) is None else pattern.sub(_taken_apart, text)


def _broken(match: re.Match[str]) -> str:
    return match[0][:1] + ZERO_WIDTH + match[0][1:]


def _taken_apart(match: re.Match[str]) -> str:
    return ZERO_WIDTH.join(match[0])
