"""The note below a message that may have been sent twice, in each language. The size limit reserves room for the
longest.
"""

from typing import Any, Final

from parlour.core.texts.catalogue import DEFAULT_LANGUAGE, LANGUAGES, text

from .split import Measure


def repeat_note(language: str) -> str:
    """Returns the note in this language, on a line of its own."""
    return f"\n{text('delivery.repeated', language)}"


DEFAULT_REPEAT_NOTE: Final = repeat_note(DEFAULT_LANGUAGE)
REPEAT_NOTES: Final = tuple(repeat_note(language) for language in LANGUAGES)


def longest_note_size(measure: Measure) -> int:
    """Returns the size of the longest note: the language is known only when a message is repeated."""
    return max(map(measure, REPEAT_NOTES))


def with_repeat_note(chain: list[dict[str, Any]], language: str) -> list[dict[str, Any]]:
    """Adds the note to a chain. Below a file or voice message it is a text of its own; buttons stay at the end."""
    position = next((index for index, each in enumerate(chain) if each.get("component_type") == "buttons"), len(chain))
    has_text = any(component["type"] == "Plain" for component in chain)
    note = {"type": "Plain", "text": repeat_note(language) if has_text else repeat_note(language).strip()}
    return [*chain[:position], note, *chain[position:]]


def has_repeat_note(text: str) -> bool:
    """Returns whether a shown text ends with the note of any language."""
    return text.endswith(tuple(each.strip() for each in REPEAT_NOTES))


def without_repeat_note(text: str) -> str:
    """Returns a shown text without the note of any language."""
    return next(
        (text.removesuffix(each.strip()).rstrip() for each in REPEAT_NOTES if text.endswith(each.strip())), text
    )
