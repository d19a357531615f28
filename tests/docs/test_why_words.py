"""What a trail or a dry run says, the page says too, in each of its languages, with the same values."""

import json
import re

import pytest

from parlour.core.why.words import ENGLISH, KINDS
from parlour.http.bots import dry_run

from .pages import ROOT

LOCALES = ROOT / "web" / "src" / "locales"


def words(language: str, section: str) -> dict[str, str]:
    book: dict[str, dict[str, str]] = json.loads((LOCALES / f"{language}.json").read_text(encoding="utf-8"))
    return book[section]


def values(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


def test_the_page_says_in_english_what_the_host_says() -> None:
    told = {code: re.sub(r"\{(\w+)\}", r"{{\1}}", text) for code, text in ENGLISH.items()}

    assert words("en", "why") == told
    assert words("en", "whyKind") == KINDS


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_every_sentence_has_words_with_the_same_values(language: str) -> None:
    told = words(language, "why")

    assert {code: values(text) for code, text in told.items()} == {code: values(text) for code, text in ENGLISH.items()}
    assert words(language, "whyKind").keys() == KINDS.keys()


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_every_reason_of_a_dry_run_has_words_with_the_same_values(language: str) -> None:
    told = {code: values(text) for code, text in words(language, "dryRunReason").items()}

    assert told == {code: values(text) for code, text in dry_run.ENGLISH.items()}
