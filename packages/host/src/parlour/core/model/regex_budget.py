"""Tries the regular expressions of routes on what people write, without holding the Host up.

All that are tried on one event share one small budget of time, whatever a message is made to look like and however many
routes there are. What came of it is kept for a while: an event is routed several times on its way, and is to find the
same route each time at no further cost.
"""

import re
from collections import OrderedDict
from functools import lru_cache
from time import thread_time
from typing import Any, Protocol

from .event import EventEnvelope
from .reasons import Reason, reason

EVENT_SECONDS = 0.02
LEAST_SECONDS = 0.001
"""With less, an expression that is quick might be taken for a slow one."""
CHARACTERS = 20_000
"""Of a longer text, its beginning is looked at."""
TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]|\{(\d*)[^{}]*\}|.", re.DOTALL)
"""An escaped character, a set, how often what stands before it is there, or anything else."""
IGNORED = re.compile(r"\s|#[^\n]*")
"""In expressions that are written over several lines."""
WRITTEN_OUT_AT_MOST = 100_000
EVENTS = 1000
"""As many are known at once. Who is routed again after so many others starts anew."""


class Pattern(Protocol):
    def search(self, text: str, *, timeout: float) -> Any: ...


class Regexes:
    def __init__(self) -> None:
        self._tried: OrderedDict[tuple[str, str, int], _Tried] = OrderedDict()

    def unmet(self, pattern: str, event: EventEnvelope) -> Reason | None:
        """Why the event's text does not match; none when it does."""
        text = event.text[:CHARACTERS]
        tried = self._of((event.bot_id, event.event_id, hash(text)))
        if pattern not in tried.found:
            tried.found[pattern] = tried.search(pattern, text)
        return tried.found[pattern]

    def _of(self, key: "tuple[str, str, int]") -> "_Tried":
        if key in self._tried:
            self._tried.move_to_end(key)
        else:
            self._tried[key] = _Tried()
            if len(self._tried) > EVENTS:
                self._tried.popitem(last=False)
        return self._tried[key]


class _Tried:
    """What was tried on one text, and the time that is left for it."""

    __slots__ = ("found", "left")

    def __init__(self) -> None:
        self.found: dict[str, Reason | None] = {}
        self.left = EVENT_SECONDS

    def search(self, pattern: str, text: str) -> Reason | None:
        """With half of what is left at most: a slow one leaves something to the quick ones behind it."""
        expression, seconds = compiled(pattern), self.left / 2
        if seconds < LEAST_SECONDS:
            return reason("spent_regex", seconds=f"{EVENT_SECONDS:g}")
        begun = thread_time()
        try:
            found = expression.search(text, timeout=seconds)
        except TimeoutError:
            return reason("slow_regex", seconds=f"{seconds:g}")
        finally:
            self.left -= thread_time() - begun
        return None if found else reason("text_regex")


def problem(pattern: str) -> str:
    """What is wrong with an expression that a person wrote; empty when it can be used."""
    import regex

    if max(written_out(pattern), written_out(IGNORED.sub("", pattern))) > WRITTEN_OUT_AT_MOST:
        return "its repeats, as in {1000}, make it too long; repeat less, or less of it"
    try:
        compiled(pattern)
    except regex.error as error:
        return f"this is not a regular expression: {error}"
    except RecursionError:
        return "it is nested too deep"
    return ""


def written_out(pattern: str) -> int:
    """How long it is with its repeats written out, as it is compiled: with those of groups in groups, that is quickly
    more than a machine has room for.
    """
    groups, last = [0], 0
    for token in TOKEN.finditer(pattern):
        match token[0]:
            case "(":
                groups.append(0)
            case ")" if len(groups) > 1:
                last = groups.pop() + 1
                groups[-1] += last
            case _ if token[1]:
                groups[-1] += last * min(int(token[1]) - 1, WRITTEN_OUT_AT_MOST)
            case _:
                last = 1
                groups[-1] += last
    return sum(groups)


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> Pattern:
    """Those of all routes are made when the routes are loaded or saved: that takes longer than to try them."""
    import regex

    found: Pattern = regex.compile(pattern)
    return found
