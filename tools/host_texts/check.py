"""Compares the texts of the Host's source with the translations."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from parlour.core.texts.translation import FOLDER, sentences

from . import extraction
from .not_shown import MODULES, STRINGS

PHRASES = "phrases.json"
"""File with texts that the extraction can't find: single words, phrases, and the messages of pydantic."""
SUBJECT = "{} "
"""Placeholder that precedes the translation of a text whose subject is not part of the source string."""


SDK_PARTS = ("components/", "plugin/", "protocol/rules/", "service/", "wire/", "worker.py")
"""Parts of the SDK whose texts the Host shows: problems of packages, refusals, failures of plugins and connections."""


def _modules() -> Iterator[tuple[str, Path]]:
    for parts, folder in ((("",), extraction.HOST / "parlour"), (SDK_PARTS, extraction.SDK / "parlour_sdk")):
        for file in sorted(folder.rglob("*.py")):
            module = file.relative_to(folder).as_posix()
            if module.startswith(parts) and not module.startswith(MODULES):
                yield module, file


@cache
def shown() -> dict[str, str]:
    """Returns the templates that users may read, each with the first module that contains it."""
    texts: dict[str, str] = {}
    for module, file in _modules():
        for template in extraction.sentences(file.read_text(encoding="utf-8")):
            texts.setdefault(template, module)
    return texts


def untranslated(language: str) -> dict[str, str]:
    """Returns the templates that have no translation, each with its module."""
    translated = sentences(language).keys() | STRINGS
    return {
        template: module
        for template, module in shown().items()
        if template not in translated and SUBJECT + template not in translated
    }


def stale(language: str) -> set[str]:
    """Returns the translated templates that no longer exist in the source."""
    phrases = sentences(language, PHRASES).keys()
    return {
        template
        for template in sentences(language).keys() - phrases
        if template not in shown() and template.removeprefix(SUBJECT) not in shown()
    }


def languages() -> list[str]:
    return sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())
