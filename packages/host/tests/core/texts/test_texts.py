"""The sentences to people: the same keys and values in every language, and a language for every locale."""

import json
import string
from pathlib import Path

import pytest

from parlour.core import texts
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.core.texts.catalogue import LANGUAGES, match_language, text
from parlour.core.texts.languages import Languages

FILES = {each: json.loads((Path(texts.__file__).parent / f"{each}.json").read_text()) for each in LANGUAGES}


def named(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_sentence_with_the_same_values(language: str) -> None:
    english, other = FILES["en"], FILES[language]
    assert list(other) == list(english)
    for key, sentence in english.items():
        assert named(other[key]) == named(sentence), key
        assert other[key].strip(), key


@pytest.mark.parametrize(
    ("locale", "language"),
    [("zh-CN", "zh-Hans"), ("zh_Hans", "zh-Hans"), ("zh", "zh-Hans"), ("en_US", "en"), ("EN", "en"), ("fr", None)],
)
def test_a_locale_finds_its_language(locale: str, language: str | None) -> None:
    assert match_language(locale) == language


@pytest.mark.parametrize(
    ("data", "language"),
    [({}, "zh-Hans"), ({"locale": "en-GB"}, "en"), ({"locale": "fr"}, "zh-Hans"), ({"locale": 7}, "zh-Hans")],
)
def test_the_persons_language_goes_before_the_workspaces(data: dict[str, object], language: str) -> None:
    actor = Participant("user", "ann", data=data)
    event = EventEnvelope("e", "message.received", "fake", "c", EventContext("x"), "platform", actor=actor)
    assert Languages("zh-Hans").for_event(event) == language


def test_a_value_is_never_read_as_a_template() -> None:
    assert text("command.plugin_failed", "en", name="/{secret}") == "/{secret} failed. Try it again in a moment."
