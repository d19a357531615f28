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
        self._whole: dict[str, str] = {}
        self._by_word: dict[str, list[_Translated]] = defaultdict(list)
        self._open: list[_Translated] = []
        """Templates that begin with a value."""
        for english, other in sentences:
            source, target = parse(english), parse(other)
            if not source.names:
                self._whole[source.literals[0]] = target.literals[0]
            elif " " in source.literals[0]:
                self._by_word[_first_word(source.literals[0])].append(_Translated(source, target))
            else:
                self._open.append(_Translated(source, target))
        for group in (*self._by_word.values(), self._open):
            group.sort(key=lambda each: each.source.weight, reverse=True)

    def whole(self, text: str) -> str | None:
        """Looks up a sentence that has no values."""
        return self._whole.get(text)

    def matching(self, text: str) -> tuple[Template, Template, dict[str, str]] | None:
        """Finds the most exact template that makes the text: source, target and the values."""
        best: tuple[Template, Template, dict[str, str]] | None = None
        for group in (self._by_word.get(_first_word(text), ()), self._open):
            for each in group:
                if best is not None and best[0].weight >= each.source.weight:
                    break
                if (values := each.source.match(text)) is not None:
                    best = each.source, each.target, values
                    break
        return best


class _Translator:
    """Translates one text and counts the lookups for it."""

    def __init__(self, known: Translations) -> None:
        self._known = known
        self._lookups = 0

    def find(self, text: str, depth: int = MAX_DEPTH) -> str | None:
        """Translates a text. Returns None if nothing in it is known."""
        if (whole := self._known.whole(text)) is not None:
            return whole
        self._lookups += 1
        if depth == 0 or self._lookups > MAX_LOOKUPS or " " not in text:
            return None
        depth -= 1
        return (
            self._by_sentence(text, depth)
            or self._joined(text, _CLAUSES, depth, both=True)
            or self._by_template(text, depth)
            or self._by_field(text, depth)
            or self._joined(text, _JOINTS, depth, both=False)
            or self._joined(text, _WEAK_JOINTS, depth, both=True)
        )

    def _by_sentence(self, text: str, depth: int) -> str | None:
        """Translates several sentences with full stops one by one."""
        head, found, tail = text.partition(". ")
        if not found or (first := self.find(f"{head}.", depth)) is None:
            return None
        return first + (self.find(tail, depth) or tail)

    def _by_template(self, text: str, depth: int) -> str | None:
        found = self._known.matching(text)
        if found is None:
            return None
        source, target, values = found
        names = source.verbatim
        return target.fill(
            {name: value if name in names else self._value(value, depth) for name, value in values.items()}
        )

    def _value(self, text: str, depth: int) -> str:
        if (found := self.find(text, depth)) is not None:
            return found
        lead = next((each for each in _LEADS[:2] if text.startswith(each[0])), None)
        return text if lead is None else lead[1] + text[len(lead[0]) :]

    def _by_field(self, text: str, depth: int) -> str | None:
        """Translates the sentence after a field's path or after punctuation."""
        if named := _FIELD.fullmatch(text):
            rest = self.find(named[2], depth)
            return None if rest is None else named[1] + rest
        for lead, other in _LEADS:
            if text.startswith(lead):
                rest = self.find(text[len(lead) :], depth)
                return None if rest is None else other + rest
        return None

    def _joined(self, text: str, joints: tuple[tuple[str, str], ...], depth: int, *, both: bool) -> str | None:
        for joint, other in joints:
            head, found, tail = text.partition(joint)
            if not found:
                continue
            first, second = self.find(head, depth), self.find(tail, depth)
            if (first is None or second is None) if both else (first is None and second is None):
                continue
            return (first or head) + other + (second or tail)
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
