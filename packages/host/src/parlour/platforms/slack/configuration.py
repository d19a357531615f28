"""Checks what the form can't: each mode needs its own secret, and each token has its own kind."""

from collections.abc import Mapping
from typing import Any

TOKENS = {"bot_token": "xoxb-", "app_token": "xapp-"}
"""How each kind of token begins."""
REQUIRED = {"socket": "app_token", "webhook": "signing_secret"}


def problems(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns pairs of field and problem. Only the fields of the configured mode are checked."""
    required = REQUIRED["webhook" if config.get("mode") == "webhook" else "socket"]
    found = [] if config.get(required) else [(required, "is required in this mode")]
    for name, prefix in TOKENS.items():
        token = config.get(name)
        is_used = name == "bot_token" or name == required
        if is_used and isinstance(token, str) and token and not token.strip().startswith(prefix):
            found.append((name, f"must be the token that begins with {prefix}"))
    return found
