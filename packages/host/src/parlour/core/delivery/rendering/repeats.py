"""The words under a message that may be one too many. The limit leaves room for them."""

from typing import Any

MARK = "\n(possibly repeated)"


def marked(chain: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Under a file or a voice message they are a text of their own; buttons stay below everything."""
    below = next((at for at, each in enumerate(chain) if each.get("component_type") == "buttons"), len(chain))
    written = any(component["type"] == "Plain" for component in chain)
    words = {"type": "Plain", "text": MARK if written else MARK.strip()}
    return [*chain[:below], words, *chain[below:]]
