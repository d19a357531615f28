"""Applies the filters of a message policy to what people write and what agents reply.

Every text is checked: text parts, captions and names of files, and quoted texts, also beside pictures.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import thread_time
from typing import TYPE_CHECKING, Any, Literal

from parlour.core.model.regex_budget import EVENT_BUDGET_SECONDS, MIN_SEARCH_SECONDS, compile_pattern
from parlour_sdk.values import dataclass

from .words import MASK, Graphemes, WordMatcher, matcher_of, split_graphemes

if TYPE_CHECKING:
    from .schema import InputFilter, InputRegex, InputWords, OutputFilter, OutputRegex, OutputWords

    OwnFilter = InputRegex | InputWords | OutputRegex | OutputWords
    AnyFilter = InputFilter | OutputFilter

Action = Literal["block", "mask", "flag", "replace"]
MAX_FILTERED_CHARACTERS = 256 * 1024
"""Characters of a text that are filtered; the protocol allows no longer ones."""
TEXT_KEYS = ("text", "name", "caption")
"""Fields of an element that people read."""


ASKING_FILTERS = ("moderation", "plugin")
"""Filters whose verdicts come from a model or a plugin."""


@dataclass(frozen=True, slots=True)
class FilterVerdict:
    """What a model or a plugin says about a text."""

    is_found: bool
    detail: str = ""
    """What was found, or why there is no verdict."""
    is_failed: bool = False
    """True if there is no verdict, and the filter's rule for errors decided."""
    call: Mapping[str, Any] | None = None
    """What the ledger records of a model call."""


Verdicts = Mapping[int, FilterVerdict]
"""Verdicts by the positions of their filters, from 1."""
NO_VERDICTS: Verdicts = {}


@dataclass(frozen=True, slots=True)
class FilterHit:
    """A filter that found something."""

    filter: "AnyFilter"
    position: int
    """Number of the filter in its list, from 1."""
    detail: str = ""

    @property
    def rule(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.position} ({self.filter.use}{detail})"


@dataclass(frozen=True, slots=True)
class FilteredContent:
    """A text and elements after the filters, with what was found. `stopped_by` is the filter that ended it."""

    text: str | None
    contents: list[Any]
    hits: tuple[FilterHit, ...] = ()
    stopped_by: FilterHit | None = None


class TextFilters:
    """Applies lists of filters. `find_list` returns the matcher of a word list by its id."""

    def __init__(self, find_list: Callable[[str], "CompiledList"]) -> None:
        self._find_list = find_list

    def apply(
        self,
        filters: "Sequence[AnyFilter]",
        text: str | None,
        contents: Sequence[Any] = (),
        verdicts: Verdicts = NO_VERDICTS,
    ) -> FilteredContent:
        """Applies filters in their order. The first that blocks or replaces ends the content. `verdicts` are those of
        models and plugins; without one, their filter finds nothing.
        """
        budget, hits, elements = _TimeBudget(), list[FilterHit](), list(contents)
        for position, each in enumerate(filters, 1):
            if each.use == "moderation" or each.use == "plugin":
                verdict = verdicts.get(position)
                if verdict is None or not verdict.is_found:
                    continue
                hit = FilterHit(each, position, verdict.detail)
            else:
                find = self._finder(each, budget)
                if not any(find(value) for value in readable_texts(text, elements)):
                    continue
                hit = FilterHit(each, position)
            hits.append(hit)
            if each.on in ("block", "replace"):
                return FilteredContent(text, elements, tuple(hits), hit)
            if each.on == "mask":
                mask = self._masker(each, budget)
                text = mask(text) if text is not None else None
                elements = [_map_texts(element, mask) for element in elements]
        return FilteredContent(text, elements, tuple(hits))

    def word_matcher(self, filters: "Sequence[AnyFilter]") -> WordMatcher | None:
        """Returns one matcher for all filters, with which a stream can be masked as it grows; None if that needs the
        whole text.
        """
        words: list[str] = []
        for each in filters:
            if each.use != "words" or each.on != "mask":
                return None
            compiled = self._find_list(each.config.list_id) if each.config.list_id else EMPTY_LIST
            if compiled.patterns:
                return None
            words += [*compiled.words, *each.config.words]
        return matcher_of(tuple(words))

    def _finder(self, each: "OwnFilter", budget: "_TimeBudget") -> Callable[[str], bool]:
        matchers, patterns = self._parts(each)
        return lambda text: (
            any(next(matcher.spans(Graphemes.of(text).folded), None) is not None for matcher in matchers)
            or any(budget.spans(pattern, text) for pattern in patterns)
        )

    def _masker(self, each: "OwnFilter", budget: "_TimeBudget") -> Callable[[str], str]:
        matchers, patterns = self._parts(each)

        def mask(text: str) -> str:
            for matcher in matchers:
                whole = Graphemes.of(text)
                text = "".join(whole.masked(matcher.spans(whole.folded)))
            for pattern in patterns:
                for start, end in reversed(budget.spans(pattern, text)):
                    text = text[:start] + MASK * len(split_graphemes(text[start:end])) + text[end:]
            return text

        return mask

    def _parts(self, each: "OwnFilter") -> tuple[list[WordMatcher], Sequence[str]]:
        if each.use == "regex":
            return [], each.config.patterns
        compiled = self._find_list(each.config.list_id) if each.config.list_id else EMPTY_LIST
        own = [matcher_of(tuple(each.config.words))] if each.config.words else []
        return [compiled.matcher, *own], compiled.patterns


@dataclass(frozen=True, slots=True)
class CompiledList:
    """A word list that is ready to be searched."""

    words: tuple[str, ...]
    patterns: tuple[str, ...]
    matcher: WordMatcher


EMPTY_LIST = CompiledList((), (), WordMatcher(()))


class _TimeBudget:
    """The CPU time that all expressions may take for one message. One that takes too long counts as found."""

    def __init__(self) -> None:
        self._remaining = EVENT_BUDGET_SECONDS

    def spans(self, pattern: str, text: str) -> list[tuple[int, int]]:
        """Returns where an expression matches; the whole text if that takes too long, so that nothing slips through."""
        started_at, seconds = thread_time(), max(self._remaining / 2, MIN_SEARCH_SECONDS)
        text = text[:MAX_FILTERED_CHARACTERS]
        try:
            found = [match.span() for match in compile_pattern(pattern).finditer(text, timeout=seconds)]
        except TimeoutError:
            return [(0, len(text))]
        finally:
            self._remaining -= thread_time() - started_at
        return [(start, end) for start, end in found if end > start]


def readable_texts(text: str | None, contents: Sequence[Any]) -> list[str]:
    """Returns every text of a message: its own, captions and names of files, and quotes."""
    return [each for each in (*([text] if text is not None else []), *_texts(contents)) if each]


def _texts(elements: Sequence[Any]) -> Iterator[str]:
    for element in elements:
        if isinstance(element, Mapping):
            yield from (str(element[key]) for key in TEXT_KEYS if isinstance(element.get(key), str))
            yield from _texts(element.get("contents") or ())


def _map_texts(element: Any, change: Callable[[str], str]) -> Any:
    if not isinstance(element, Mapping):
        return element
    changed = {key: change(element[key]) for key in TEXT_KEYS if isinstance(element.get(key), str)}
    inner = element.get("contents")
    nested = {"contents": [_map_texts(each, change) for each in inner]} if inner else {}
    return {**element, **changed, **nested}
