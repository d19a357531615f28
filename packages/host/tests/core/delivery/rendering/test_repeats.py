"""The mark of a repeated message: one for each language, each recognised again."""

import pytest

from parlour.core.delivery.rendering.repeats import MARK, MARKS, is_marked, mark, marked, unmarked
from parlour.core.texts.catalogue import LANGUAGES


def test_the_english_mark_stays_as_it_was() -> None:
    assert MARK == mark("en") == mark("an unknown language") == "\n(possibly repeated)"
    assert len(set(MARKS)) == len(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_mark_of_any_language_is_recognised_and_taken_off(language: str) -> None:
    [*_, words] = marked([{"type": "Plain", "text": "hello"}], language)
    [*_, alone] = marked([{"type": "Image"}], language)
    assert words["text"] == mark(language)
    assert alone["text"] == mark(language).strip()
    assert is_marked(f"hello{words['text']}")
    assert unmarked(f"hello{words['text']}") == "hello"
    assert not is_marked("hello ")
    assert unmarked("hello ") == "hello "
