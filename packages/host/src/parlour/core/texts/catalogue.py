"""Reads the sentences of a language from its data file and fills in their values."""

import json
from functools import cache
from pathlib import Path
from typing import Final, Literal, get_args

Language = Literal["en", "zh-Hans"]
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)
DEFAULT_LANGUAGE: Final[Language] = "en"
_FOLDER = Path(__file__).parent


def text(key: str, language: str = DEFAULT_LANGUAGE, **values: object) -> str:
    """Returns a sentence in this language, or in English if it is unknown. Raises KeyError for an unknown key."""
    sentences = _sentences(language if language in LANGUAGES else DEFAULT_LANGUAGE)
    return sentences[key].format_map(values)


def has_text(key: str) -> bool:
    return key in _sentences(DEFAULT_LANGUAGE)


def match_language(locale: str) -> Language | None:
    """Returns the language for a locale such as `zh-CN`, `zh_Hans` or `en_US`; None if the Host does not have it."""
    language_code = locale.replace("_", "-").partition("-")[0].lower()
    return next((each for each in LANGUAGES if each.partition("-")[0] == language_code), None)


@cache
def _sentences(language: str) -> dict[str, str]:
    texts: dict[str, str] = json.loads((_FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return texts
