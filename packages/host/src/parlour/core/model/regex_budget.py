"""Matches the regular expressions of routes against messages, within a time budget, so that the Host is not blocked.

All expressions that are tried on one event share a small time budget, even if a message is crafted to be slow and
there are many routes. Results are cached for a while: an event is routed several times while it is processed, and must
match the same route each time at no further cost.
"""

import re
from collections import OrderedDict
from functools import lru_cache
from time import thread_time
from typing import Any, Protocol

from .event import EventEnvelope
from .reasons import Reason, make_reason

EVENT_BUDGET_SECONDS = 0.02
"""CPU seconds for all expressions that are tried on one event."""
MIN_SEARCH_SECONDS = 0.001
"""Smallest timeout of a search; with less, a fast expression might be reported as slow."""
MAX_TEXT_CHARACTERS = 20_000
"""Characters at the beginning of a text that are searched; the rest is ignored."""
TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]|\{(\d*)[^{}]*\}|.", re.DOTALL)
"""Matches an escaped character, a set, a repeat count, or any other character."""
IGNORED = re.compile(r"\s|#[^\n]*")
"""Matches white space and comments, which are ignored in verbose expressions."""
MAX_EXPANDED_LENGTH = 100_000
"""Largest length of an expression with its repeats expanded."""
MAX_CACHED_EVENTS = 1000
"""Number of events whose results are cached; an event that was evicted gets a new budget."""


class Pattern(Protocol):
    """A compiled expression of the `regex` package."""

    def search(self, text: str, *, timeout: float) -> Any: ...

    def finditer(self, text: str, *, timeout: float) -> Any: ...


class RegexMatcher:
    """Searches expressions in the texts of events and caches the results."""

    def __init__(self) -> None:
        self._budgets: OrderedDict[tuple[str, str, int], _EventBudget] = OrderedDict()

    def mismatch(self, pattern: str, event: EventEnvelope) -> Reason | None:
        """Returns the reason why the event's text does not match; None if it does."""
        text = event.text[:MAX_TEXT_CHARACTERS]
        event_budget = self._budget_of((event.bot_id, event.event_id, hash(text)))
        if pattern not in event_budget.results:
            event_budget.results[pattern] = event_budget.search(pattern, text)
        return event_budget.results[pattern]

    def _budget_of(self, key: "tuple[str, str, int]") -> "_EventBudget":
        if key in self._budgets:
            self._budgets.move_to_end(key)
        else:
            self._budgets[key] = _EventBudget()
            if len(self._budgets) > MAX_CACHED_EVENTS:
                self._budgets.popitem(last=False)
        return self._budgets[key]


class _EventBudget:
    """Cached results of one text, and the rest of its time budget."""

    __slots__ = ("remaining_seconds", "results")

    def __init__(self) -> None:
        self.results: dict[str, Reason | None] = {}
        self.remaining_seconds = EVENT_BUDGET_SECONDS

    def search(self, pattern: str, text: str) -> Reason | None:
        """Searches with at most half of the remaining budget, so that a slow expression leaves time for others."""
        expression, seconds = compile_pattern(pattern), self.remaining_seconds / 2
        if seconds < MIN_SEARCH_SECONDS:
            return make_reason("spent_regex", seconds=f"{EVENT_BUDGET_SECONDS:g}")
        started_at = thread_time()
        try:
            match = expression.search(text, timeout=seconds)
        except TimeoutError:
            return make_reason("slow_regex", seconds=f"{seconds:g}")
        finally:
            self.remaining_seconds -= thread_time() - started_at
        return None if match else make_reason("text_regex")


def pattern_problem(pattern: str) -> str:
    """Returns why an expression of an operator can't be used; empty if it is valid."""
    import regex

    if max(expanded_length(pattern), expanded_length(IGNORED.sub("", pattern))) > MAX_EXPANDED_LENGTH:
        return "its repeats, as in {1000}, make it too long; repeat less, or less of it"
    try:
        compile_pattern(pattern)
    except regex.error as error:
        return f"this is not a regular expression: {error}"
    except RecursionError:
        return "it is nested too deep"
    return ""


def expanded_length(pattern: str) -> int:
    """Returns the length of the expression with its repeats expanded, as it is compiled.

    Nested groups with repeats would quickly exceed the memory of a machine.
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
                groups[-1] += last * min(int(token[1]) - 1, MAX_EXPANDED_LENGTH)
            case _:
                last = 1
                groups[-1] += last
    return sum(groups)


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> Pattern:
    """Compiles and caches an expression.

    This takes longer than a search, so the expressions of all routes are compiled when routes are loaded or saved.
    """
    import regex

    compiled: Pattern = regex.compile(pattern)
    return compiled
