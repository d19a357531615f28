"""Of a text that no chat should be flooded with its beginning, and a word on where the rest is.

The whole is kept as a file by whoever found it too long, and sent as any other file.
"""

from collections.abc import Mapping
from typing import Any

from .dialects import Dialect

WHOLE = "whole"
"""In a message's metadata: the id of the file that has all of its text."""
_BETWEEN = "\n\n"


def whole_of(message: Mapping[str, Any]) -> str:
    """What that file is called; empty when the text is all there is. Only a file that goes with the message counts."""
    whole = (message.get("metadata") or {}).get(WHOLE)
    refs = message.get("artifact_refs") or ()
    return next((str(ref.get("name") or "a file") for ref in refs if whole and ref["artifact_id"] == whole), "")


def beginning(text: str, whole: str, dialect: Dialect) -> str:
    """As much as one message holds together with the word on the rest. Where that is too little for both, they are two
    or three.
    """
    told = f"[This is only the beginning. All of it is in {whole}.]"
    room = dialect.limit - dialect.measure(told) - len(_BETWEEN)
    first = dialect.first(text, max(room, dialect.limit // 2)).rstrip()
    return f"{first}{_BETWEEN}{told}" if first else told
