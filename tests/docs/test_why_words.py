"""Tests that the page has texts for every sentence of a decision trail and a dry run, in each language, without ids."""

import json
import re

import pytest

from parlour.core.observability.explain.texts import DELIVERY_KIND_NAMES, ENGLISH_SENTENCES
from parlour.http.bots import dry_run

from .pages import ROOT

LOCALES = ROOT / "web" / "src" / "locales"


def words(language: str, section: str) -> dict[str, str]:
    book: dict[str, dict[str, str]] = json.loads((LOCALES / f"{language}.json").read_text(encoding="utf-8"))
    return book[section]


def values(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_every_sentence_has_words_that_use_its_values_and_show_no_ids(language: str) -> None:
    texts = words(language, "why")

    assert texts.keys() == ENGLISH_SENTENCES.keys()
    assert {
        code: values(text) - values(ENGLISH_SENTENCES[code])
        for code, text in texts.items()
        if code in ENGLISH_SENTENCES
    } == {code: set() for code in ENGLISH_SENTENCES}
    assert not {"run", "before", "event", "code"} & {name for text in texts.values() for name in values(text)}
    assert words(language, "whyKind").keys() == DELIVERY_KIND_NAMES.keys()


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_every_reason_of_a_dry_run_has_words_with_the_same_values(language: str) -> None:
    placeholders = {code: values(text) for code, text in words(language, "dryRunReason").items()}

    assert placeholders == {code: values(text) for code, text in dry_run.ENGLISH.items()}
