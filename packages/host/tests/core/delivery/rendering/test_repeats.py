"""The mark of a repeated message: one for each language, each recognised again."""

import pytest

from parlour.core.delivery.rendering.repeat_notes import (
    DEFAULT_REPEAT_NOTE,
    REPEAT_NOTES,
    has_repeat_note,
    repeat_note,
    with_repeat_note,
    without_repeat_note,
)
from parlour.core.texts.catalogue import LANGUAGES


def test_the_english_mark_stays_as_it_was() -> None:
    assert DEFAULT_REPEAT_NOTE == repeat_note("en") == repeat_note("an unknown language") == "\n(possibly repeated)"
    assert len(set(REPEAT_NOTES)) == len(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_mark_of_any_language_is_recognised_and_taken_off(language: str) -> None:
    [*_, words] = with_repeat_note([{"type": "Plain", "text": "hello"}], language)
    [*_, alone] = with_repeat_note([{"type": "Image"}], language)
    assert words["text"] == repeat_note(language)
    assert alone["text"] == repeat_note(language).strip()
    assert has_repeat_note(f"hello{words['text']}")
    assert without_repeat_note(f"hello{words['text']}") == "hello"
    assert not has_repeat_note("hello ")
    assert without_repeat_note("hello ") == "hello "
