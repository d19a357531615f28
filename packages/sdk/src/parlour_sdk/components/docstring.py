"""Splits a docstring into the description of the function and the texts of its parameters."""

import inspect
import re
from collections.abc import Iterable

_HEADING = re.compile(r"(args|arguments|parameters|params):?", re.IGNORECASE)
_LATER = re.compile(r":?(returns?|raises|yields|examples?)\b.*:.*", re.IGNORECASE)


def read_docstring(docstring: str, parameters: Iterable[str]) -> tuple[str, dict[str, str]]:
    """Returns the description, and the text of each parameter that has a line.

    Such a line is `city: its name` or `:param city: its name`.
    """
    names = "|".join(re.escape(name) for name in parameters)
    named = re.compile(rf"(?:[-*]\s*)?(?::param\s+)?`?({names})`?\s*(?:\([^)]*\))?\s*:\s*(.*)") if names else None
    described: list[str] = []
    texts: dict[str, str] = {}
    current, depth = "", 0
    for line in inspect.cleandoc(docstring).splitlines():
        indent, words = len(line) - len(line.lstrip()), line.strip()
        found = named.fullmatch(words) if named else None
        if found:
            current, depth = found[1], indent
            texts[current] = found[2]
        elif current and words and indent > depth:
            texts[current] = f"{texts[current]} {words}".strip()
        elif _LATER.fullmatch(words) and described:
            break
        else:
            current = ""
            described += [] if _HEADING.fullmatch(words) else [line]
    return "\n".join(described).strip(), texts
