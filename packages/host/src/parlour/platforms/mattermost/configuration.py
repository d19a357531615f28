"""Checks what the form of a Mattermost bot can't express."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit


def problems(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns the fields that can't be used, each with what is accepted."""
    found = []
    for name in ("url", "public_url"):
        value = str(config.get(name) or "").strip()
        if value and not _is_address(value):
            found.append((name, "an address that begins with https:// is expected, as https://chat.example.org"))
    return found


def _is_address(value: str) -> bool:
    try:
        parts = urlsplit(value)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
