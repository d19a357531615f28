"""The note of a possibly repeated message in each language."""

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


def test_english_note_is_unchanged_and_the_default() -> None:
    assert DEFAULT_REPEAT_NOTE == repeat_note("en") == repeat_note("an unknown language") == "\n(possibly repeated)"
    assert len(set(REPEAT_NOTES)) == len(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_note_of_each_language_is_recognized_and_removed(language: str) -> None:
    [*_, after_text] = with_repeat_note([{"type": "Plain", "text": "hello"}], language)
    [*_, alone] = with_repeat_note([{"type": "Image"}], language)
    assert after_text["text"] == repeat_note(language)
    assert alone["text"] == repeat_note(language).strip()
    assert has_repeat_note(f"hello{after_text['text']}")
    assert without_repeat_note(f"hello{after_text['text']}") == "hello"
    assert not has_repeat_note("hello ")
    assert without_repeat_note("hello ") == "hello "
