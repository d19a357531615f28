"""The words under a message that may be one too many. The limit leaves room for them."""

from typing import Any

MARK = "\n(possibly repeated)"


def marked(chain: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A chain without text, such as a voice message, has no place for words."""
    if not any(component["type"] == "Plain" for component in chain):
        return chain
    return [*chain, {"type": "Plain", "text": MARK}]
