"""Translates English sentences of the Host into the reader's language.

The code writes plain English sentences. The data files in `messages/<language>` map their templates, such as
`there is no agent '{}'`, to the other language. A sentence is matched against the templates when it is shown, so that
English costs nothing. `python -m tools.host_texts` lists templates without a translation.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from parlour_sdk.values import dataclass

from .catalogue import DEFAULT_LANGUAGE, LANGUAGES
from .templates import Template, parse

FOLDER: Final = Path(__file__).parent / "messages"
MAX_CHARACTERS: Final = 4_000
"""Maximum length of a text that is translated; longer ones are logs or content, not sentences."""
MAX_DEPTH: Final = 8
"""Maximum depth of sentences that are nested in each other."""
MAX_LOOKUPS: Final = 128
"""Maximum number of lookups for one text, so that a text full of punctuation can't take long."""
CACHED_SENTENCES: Final = 2_048
"""Number of translated sentences that are cached."""

_FIELD = re.compile(r"([\w.\-\[\]]+: )(.+)", re.DOTALL)
_LEADS: Final = (("; ", "；"), (": ", "："), (", ", "，"), (" ", ""))
"""Punctuation at the start of a value, with the punctuation of the other language."""
_CLAUSES: Final = ((", after ", "，此前："), (", since ", "，因为"), (", which goes before ", "，优先于"))
"""Conjunctions between whole clauses; they are tried before templates, which would match them as part of a value."""
_JOINTS: Final = (("; ", "；"), (": ", "："), (", or: ", "，或者："), (", or at ", "，或"))
"""Punctuation by which the code joins sentences; one of the two sentences may be foreign."""
_WEAK_JOINTS: Final = ((", and ", "，而且"), (", not ", "，而不是"), (" or ", "或"), (" and ", "和"), (", ", "，"))
"""Joints that occur in foreign text as well; both sides must be known."""


@dataclass(frozen=True, slots=True)
class _Translated:
    source: Template
    target: Template


class Translations:
    """The templates of one language, in groups by their first word."""

    def __init__(self, sentences: Iterable[tuple[str, str]]) -> None:
        self._exact: dict[str, str] = {}
        self._by_word: dict[str, list[_Translated]] = defaultdict(list)
        self._open: list[_Translated] = []
        """Templates that begin with a value."""
        for english, other in sentences:
            source, target = parse(english), parse(other)
            if not source.names:
                self._exact[source.literals[0]] = target.literals[0]
            elif " " in source.literals[0]:
                self._by_word[_first_word(source.literals[0])].append(_Translated(source, target))
            else:
                self._open.append(_Translated(source, target))
        for group in (*self._by_word.values(), self._open):
            group.sort(key=lambda each: each.source.weight, reverse=True)

    def exact(self, text: str) -> str | None:
        """Looks up a sentence that has no values."""
        return self._exact.get(text)

    def matching(self, text: str) -> tuple[Template, Template, dict[str, str]] | None:
        """Finds the most exact template that makes the text: source, target and the values."""
        best: tuple[Template, Template, dict[str, str]] | None = None
        for group in (self._by_word.get(_first_word(text), ()), self._open):
            for candidate in group:
                if best is not None and best[0].weight >= candidate.source.weight:
                    break
                if (values := candidate.source.match(text)) is not None:
                    best = candidate.source, candidate.target, values
                    break
        return best


class _Translator:
    """Translates one text and counts the lookups for it."""

    def __init__(self, translations: Translations) -> None:
        self._translations = translations
        self._lookups = 0

    def find(self, text: str, depth: int = MAX_DEPTH) -> str | None:
        """Translates a text. Returns None if nothing in it is known."""
        if (exact := self._translations.exact(text)) is not None:
            return exact
        self._lookups += 1
        if depth == 0 or self._lookups > MAX_LOOKUPS or " " not in text:
            return None
        depth -= 1
        return (
            self._by_sentence(text, depth)
            or self._by_separator(text, _CLAUSES, depth, require_both=True)
            or self._by_template(text, depth)
            or self._by_field(text, depth)
            or self._by_separator(text, _JOINTS, depth, require_both=False)
            or self._by_separator(text, _WEAK_JOINTS, depth, require_both=True)
        )

    def _by_sentence(self, text: str, depth: int) -> str | None:
        """Translates several sentences with full stops one by one."""
        head, separator, tail = text.partition(". ")
        if not separator or (first := self.find(f"{head}.", depth)) is None:
            return None
        return first + (self.find(tail, depth) or tail)

    def _by_template(self, text: str, depth: int) -> str | None:
        match = self._translations.matching(text)
        if match is None:
            return None
        source, target, values = match
        names = source.verbatim
        return target.fill(
            {name: value if name in names else self._value(value, depth) for name, value in values.items()}
        )

    def _value(self, text: str, depth: int) -> str:
        if (translated := self.find(text, depth)) is not None:
            return translated
        prefix = next((each for each in _LEADS[:2] if text.startswith(each[0])), None)
        return text if prefix is None else prefix[1] + text[len(prefix[0]) :]

    def _by_field(self, text: str, depth: int) -> str | None:
        """Translates the sentence after a field's path or after punctuation."""
        if match := _FIELD.fullmatch(text):
            remainder = self.find(match[2], depth)
            return None if remainder is None else match[1] + remainder
        for prefix, translated_prefix in _LEADS:
            if text.startswith(prefix):
                remainder = self.find(text[len(prefix) :], depth)
                return None if remainder is None else translated_prefix + remainder
        return None

    def _by_separator(
        self, text: str, separators: tuple[tuple[str, str], ...], depth: int, *, require_both: bool
    ) -> str | None:
        for separator, translated_separator in separators:
            head, matched, tail = text.partition(separator)
            if not matched:
                continue
            first, second = self.find(head, depth), self.find(tail, depth)
            if (first is None or second is None) if require_both else (first is None and second is None):
                continue
            return (first or head) + translated_separator + (second or tail)
        return None


def translate(message: str, language: str) -> str:
    """Returns the sentence in this language, or unchanged if there is no translation."""
    if language == DEFAULT_LANGUAGE or language not in LANGUAGES:
        return message
    return _translate(message, language)


@lru_cache(CACHED_SENTENCES)
def _translate(message: str, language: str) -> str:
    if len(message) > MAX_CHARACTERS:
        return message
    return _Translator(_translations(language)).find(message) or message


@cache
def _translations(language: str) -> Translations:
    return Translations(sentences(language).items())


def sentences(language: str, files: str = "*.json") -> dict[str, str]:
    """Reads the templates of a language with their translations."""
    read: dict[str, str] = {}
    for file in sorted((FOLDER / language).glob(files)):
        read.update(json.loads(file.read_text(encoding="utf-8")))
    return read


def _first_word(text: str) -> str:
    return text.partition(" ")[0]
