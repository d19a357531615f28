"""Checks what the form of a WhatsApp bot can't express."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

_VERSION = re.compile(r"v\d{1,3}\.\d{1,2}")


def problems(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns the fields that can't be used, each with what is accepted."""
    found = []
    number_id = str(config.get("phone_number_id") or "").strip()
    if number_id and not (number_id.isascii() and number_id.isdecimal()):
        found.append(
            ("phone_number_id", "the id of the number is expected, which has digits only, not the number itself")
        )
    version = str(config.get("api_version") or "").strip()
    if version and not _VERSION.fullmatch(version):
        found.append(("api_version", "a version such as v23.0 is expected"))
    address = str(config.get("api_base_url") or "").strip()
    if address and not _is_address(address):
        found.append(("api_base_url", "an address that begins with https:// is expected"))
    return found


def _is_address(value: str) -> bool:
    try:
        parts = urlsplit(value)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
