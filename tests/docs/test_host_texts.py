"""Tests that every sentence of the Host that a reader may see has a translation in each language."""

import pytest

from tools.host_texts.check import languages, shown, stale, untranslated
from tools.host_texts.extraction import sentences
from tools.host_texts.not_shown import MODULES, STRINGS


@pytest.mark.parametrize("language", languages())
def test_every_sentence_has_a_translation_or_is_listed_as_not_shown(language: str) -> None:
    assert untranslated(language) == {}


@pytest.mark.parametrize("language", languages())
def test_no_translation_is_left_of_a_sentence_that_is_gone(language: str) -> None:
    assert stale(language) == set()


def test_sentences_listed_as_not_shown_are_in_the_source() -> None:
    assert shown().keys() >= STRINGS
    assert len(set(MODULES)) == len(MODULES)


def test_the_extraction_finds_sentences_wherever_the_source_has_them() -> None:
    source = '''
"""A module's documentation is no sentence."""
def check(name, reason):
    """Nor is a function's."""
    logger.warning("operators read this one %s", name)
    if "some words" in reason:
        raise Problem(404, "not_found", f"there is no agent '{name}'")
    told = "a first part" + f" and {name}" + ("one way of it" if name else reason)
    return {"key": "a sentence with {value} in it", "braces": "as in {1000} of them"}
'''

    assert sentences(source) == [
        "there is no agent '{}'",
        "a first part and {}{}",
        "one way of it",
        "a sentence with {value} in it",
        "as in {{1000}} of them",
    ]
