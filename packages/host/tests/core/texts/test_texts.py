"""Texts for users: the same keys and placeholders in every language, and a language for every locale."""

import json
import string
from pathlib import Path

import pytest

from parlour.core import texts
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.core.texts.catalogue import LANGUAGES, match_language, text
from parlour.core.texts.languages import Languages

FILES = {each: json.loads((Path(texts.__file__).parent / f"{each}.json").read_text()) for each in LANGUAGES}


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_text_with_the_same_placeholders(language: str) -> None:
    english, other = FILES["en"], FILES[language]
    assert list(other) == list(english)
    for key, sentence in english.items():
        assert placeholders(other[key]) == placeholders(sentence), key
        assert other[key].strip(), key


@pytest.mark.parametrize(
    ("locale", "language"),
    [("zh-CN", "zh-Hans"), ("zh_Hans", "zh-Hans"), ("zh", "zh-Hans"), ("en_US", "en"), ("EN", "en"), ("fr", None)],
)
def test_locale_is_matched_to_its_language(locale: str, language: str | None) -> None:
    assert match_language(locale) == language


@pytest.mark.parametrize(
    ("data", "language"),
    [({}, "zh-Hans"), ({"locale": "en-GB"}, "en"), ({"locale": "fr"}, "zh-Hans"), ({"locale": 7}, "zh-Hans")],
)
def test_language_of_the_user_precedes_that_of_the_workspace(data: dict[str, object], language: str) -> None:
    actor = Participant("user", "ann", data=data)
    event = EventEnvelope("e", "message.received", "fake", "c", EventContext("x"), "platform", actor=actor)
    assert Languages("zh-Hans").for_event(event) == language


def test_value_is_never_read_as_template() -> None:
    assert text("command.plugin_failed", "en", name="/{secret}") == "/{secret} failed. Try it again in a moment."
