"""The note below a message that may have been sent twice, in each language. The size limit reserves room for the
longest.
"""

from typing import Any, Final

from parlour.core.texts.catalogue import DEFAULT_LANGUAGE, LANGUAGES, text

from .text_length import Measure


def mark(language: str) -> str:
    """Returns the note in this language, on a line of its own."""
    return f"\n{text('delivery.repeated', language)}"


MARK: Final = mark(DEFAULT_LANGUAGE)
MARKS: Final = tuple(mark(language) for language in LANGUAGES)


def room(measure: Measure) -> int:
    """Returns the size of the longest note: the language is known only when a message is repeated."""
    return max(map(measure, MARKS))


def marked(chain: list[dict[str, Any]], language: str) -> list[dict[str, Any]]:
    """Adds the note to a chain. Below a file or voice message it is a text of its own; buttons stay at the end."""
    below = next((at for at, each in enumerate(chain) if each.get("component_type") == "buttons"), len(chain))
    written = any(component["type"] == "Plain" for component in chain)
    words = {"type": "Plain", "text": mark(language) if written else mark(language).strip()}
    return [*chain[:below], words, *chain[below:]]


def is_marked(shown: str) -> bool:
    """Returns whether a shown text ends with the note of any language."""
    return shown.endswith(tuple(each.strip() for each in MARKS))


def unmarked(shown: str) -> str:
    """Returns a shown text without the note of any language."""
    return next((shown.removesuffix(each.strip()).rstrip() for each in MARKS if shown.endswith(each.strip())), shown)
