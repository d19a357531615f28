"""Checks what the form can't: each way of connecting needs its own pair of fields."""

from collections.abc import Mapping
from typing import Any

NEEDED = {"long_connection": ("bot_id", "secret"), "webhook": ("token", "encoding_aes_key")}


def problems(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns pairs of field and problem."""
    mode = "webhook" if config.get("mode") == "webhook" else "long_connection"
    return [(name, "is required in this mode") for name in NEEDED[mode] if not str(config.get(name) or "").strip()]
