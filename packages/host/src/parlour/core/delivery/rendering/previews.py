"""Shortens a text that is too long for a chat to its beginning, with a note where the full text is.

The caller that found the text too long stores it as a file, which is sent like any other file.
"""

from collections.abc import Mapping
from typing import Any

from .text_formatter import TextFormatter

FULL_TEXT_KEY = "whole"
"""Metadata key of a message: the id of the file with the full text."""
_BETWEEN = "\n\n"


def full_text_file_name(message: Mapping[str, Any]) -> str:
    """Returns the name of the file with the full text; empty if there is none. It must be attached to the message."""
    whole = (message.get("metadata") or {}).get(FULL_TEXT_KEY)
    refs = message.get("artifact_refs") or ()
    return next((str(ref.get("name") or "a file") for ref in refs if whole and ref["artifact_id"] == whole), "")


def preview_text(text: str, whole: str, dialect: TextFormatter) -> str:
    """Returns as much of the text as fits into one message together with the note. If there is too little room for
    both, they take two or three messages.
    """
    told = f"[This is only the beginning. All of it is in {whole}.]"
    room = dialect.limit - dialect.measure(told) - len(_BETWEEN)
    first = dialect.first_piece(text, max(room, dialect.limit // 2)).rstrip()
    return f"{first}{_BETWEEN}{told}" if first else told
