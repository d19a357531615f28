"""Names the sources that an answer cites by number, for platforms on which a number leads nowhere."""

import re
from collections.abc import Mapping
from typing import Any

MAX_SOURCES = 10
"""Sources that are named below one message."""
_NUMBER = re.compile(r"\[(\d{1,3})\]")


def source_list(message: Mapping[str, Any]) -> str:
    """Returns a line for each passage that the text cites, such as `[1] handbook.pdf, p. 3`; empty if it cites none."""
    citations = (message.get("metadata") or {}).get("citations")
    content = message.get("content")
    if not isinstance(citations, list) or not isinstance(content, str):
        return ""
    cited = {int(number) for number in _NUMBER.findall(content)}
    lines = [
        _line(each) for each in citations if isinstance(each, Mapping) and each.get("number") in cited and _name(each)
    ]
    return "\n\n" + "\n".join(lines[:MAX_SOURCES]) if lines else ""


def _line(citation: Mapping[str, Any]) -> str:
    page = citation.get("page")
    return f"[{citation['number']}] {_name(citation)}" + (f", p. {page}" if isinstance(page, int) else "")


def _name(citation: Mapping[str, Any]) -> str:
    name = citation.get("file_name")
    return " ".join(name.split())[:200] if isinstance(name, str) else ""
