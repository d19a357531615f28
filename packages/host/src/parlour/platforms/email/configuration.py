"""Checks a configuration beyond its form. Servers are never contacted."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

SENDERS = (
    "must name who may write to the bot: addresses such as ann@example.com, domains such as @example.com, or * for all"
)
ADDRESS = "must be one mail address, such as bot@example.com"
PLAIN = "must be tls or starttls; without protection only a server of this machine can be used, such as 127.0.0.1"
TAG = "takes no brackets; the subject then contains it in brackets"
BLANK = "must be a name or address of a server without blanks or slashes"


def problems(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns pairs of field and problem."""
    senders = config.get("allowed_senders")
    names = senders if isinstance(senders, list) else []
    by_field = {
        "address": "" if is_address(str(config.get("address") or "")) else ADDRESS,
        "allowed_senders": "" if names and all(map(_is_sender, names)) else SENDERS,
        "subject_tag": TAG if set("[]") & set(str(config.get("subject_tag") or "")) else "",
    }
    for protocol in ("imap", "smtp"):
        host = str(config.get(f"{protocol}_host") or "")
        by_field[f"{protocol}_host"] = BLANK if not host or set(" /\\\t") & set(host) else ""
        is_plain = config.get(f"{protocol}_security") == "none"
        by_field[f"{protocol}_security"] = PLAIN if is_plain and not _is_loopback(host) else ""
    return [(name, problem) for name, problem in by_field.items() if problem]


def is_address(text: str) -> bool:
    local, at, domain = text.strip().rpartition("@")
    return bool(local and at and domain) and not set(' \t\r\n<>,;"@') & set(local + domain)


def _is_sender(entry: Any) -> bool:
    text = str(entry).strip()
    return text == "*" or is_address(text) or (text.startswith("@") and is_address(f"any{text}"))


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
