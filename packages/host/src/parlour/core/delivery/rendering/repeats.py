"""The words under a message that may be one too many, in each language. The limit leaves room for the longest."""

from typing import Any, Final

from parlour.core.texts.catalogue import DEFAULT_LANGUAGE, LANGUAGES, text

from .text_length import Measure


def mark(language: str) -> str:
    """Returns the words in this language, on a line of their own."""
    return f"\n{text('delivery.repeated', language)}"


MARK: Final = mark(DEFAULT_LANGUAGE)
MARKS: Final = tuple(mark(language) for language in LANGUAGES)


def room(measure: Measure) -> int:
    """Returns the size of the longest mark: the language is known only when a message is repeated."""
    return max(map(measure, MARKS))


def marked(chain: list[dict[str, Any]], language: str) -> list[dict[str, Any]]:
    """Under a file or a voice message they are a text of their own; buttons stay below everything."""
    below = next((at for at, each in enumerate(chain) if each.get("component_type") == "buttons"), len(chain))
    written = any(component["type"] == "Plain" for component in chain)
    words = {"type": "Plain", "text": mark(language) if written else mark(language).strip()}
    return [*chain[:below], words, *chain[below:]]


def is_marked(shown: str) -> bool:
    """Tells whether a text that people see ends with the mark of any language."""
    return shown.endswith(tuple(each.strip() for each in MARKS))


def unmarked(shown: str) -> str:
    """Returns a text that people see without the mark of any language."""
    return next((shown.removesuffix(each.strip()).rstrip() for each in MARKS if shown.endswith(each.strip())), shown)
