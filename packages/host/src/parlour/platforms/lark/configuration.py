"""Checks what the form can't: a called bot needs a key or token to recognize Lark, and store apps are always called."""

from collections.abc import Mapping
from typing import Any


def problems(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns pairs of field and problem."""
    found = []
    is_called = config.get("mode") == "webhook"
    if is_called and not (config.get("encrypt_key") or config.get("verification_token")):
        found.append(("encrypt_key", "is required in this mode, or the verification token"))
    if config.get("app_type") == "store" and not is_called:
        found.append(("mode", "must be webhook for a store app, because Lark offers long connections only to own apps"))
    return found
