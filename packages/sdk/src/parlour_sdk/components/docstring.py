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
    parameter_pattern = (
        re.compile(rf"(?:[-*]\s*)?(?::param\s+)?`?({names})`?\s*(?:\([^)]*\))?\s*:\s*(.*)") if names else None
    )
    summary_lines: list[str] = []
    texts: dict[str, str] = {}
    current, depth = "", 0
    for line in inspect.cleandoc(docstring).splitlines():
        indent, text = len(line) - len(line.lstrip()), line.strip()
        match = parameter_pattern.fullmatch(text) if parameter_pattern else None
        if match:
            current, depth = match[1], indent
            texts[current] = match[2]
        elif current and text and indent > depth:
            texts[current] = f"{texts[current]} {text}".strip()
        elif _LATER.fullmatch(text) and summary_lines:
            break
        else:
            current = ""
            summary_lines += [] if _HEADING.fullmatch(text) else [line]
    return "\n".join(summary_lines).strip(), texts
