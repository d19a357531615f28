"""Checks a configuration beyond its form. Addresses are parsed but never contacted.

It imports no other part of the adapter: a configuration is checked before any bot needs those.
"""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

LAST_PORT = 65_535
NAMED_SECRETS = ("access_token", "token")
PORT = f"must be a port from 1 to {LAST_PORT}, or 0 to take connections at the Host's own port only"
TOKEN = (
    "is required unless the bot listens on a loopback address such as 127.0.0.1 only; "
    "set the same token here and in the OneBot implementation"
)
ADDRESS = f"must be where the OneBot implementation listens: ws://host:port or wss://..., a port from 1 to {LAST_PORT}"
HOST = "must be an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them"
SECRET = "takes no user, password or token, for it is shown in the clear; the token belongs into access_token"


def problems(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns pairs of field and problem. Only the fields of the configured mode are checked."""
    if config.get("mode") == "forward":
        url = str(config.get("url") or "")
        by_field = {"url": url_problem(url) or secret_problem(url)}
    else:
        by_field = {
            "host": host_problem(config.get("host")),
            "port": port_problem(config.get("port")),
            "access_token": token_problem(config),
        }
    return [(name, problem) for name, problem in by_field.items() if problem]


def port_problem(port: Any) -> str:
    return "" if isinstance(port, int) and 0 <= port <= LAST_PORT else PORT


def token_problem(config: Mapping[str, Any]) -> str:
    """Requires an access token for a reverse bot that can be reached from other machines."""
    only_loopback = bool(config.get("port")) and _is_loopback(str(config.get("host") or "localhost"))
    return "" if config.get("access_token") or only_loopback else TOKEN


def open_to_this_machine(config: Mapping[str, Any]) -> bool:
    """Returns whether any program on this machine may connect as the bot's OneBot implementation."""
    return config.get("mode") != "forward" and not config.get("access_token")


def host_problem(host: Any) -> str:
    return "" if not host or _is_host(str(host)) else HOST


def url_problem(url: str) -> str:
    """Returns why the URL can't be connected to; empty if it can."""
    parts = _split(url)
    if parts is None or parts.scheme not in ("ws", "wss") or parts.fragment or _blank(url):
        return ADDRESS
    return "" if _is_host(parts.hostname or "") else ADDRESS


def secret_problem(url: str) -> str:
    """Returns a problem if the URL contains a secret, which would be visible; else an empty string."""
    parts = _split(url)
    if parts is None:
        return ""
    has_named_secret = any(name.lower() in NAMED_SECRETS for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    return SECRET if has_named_secret or "@" in parts.netloc else ""


def _is_loopback(host: str) -> bool:
    try:
        return host.lower() == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        return parts if parts.port != 0 else None  # reading an invalid port raises ValueError
    except ValueError:
        return None


def _is_host(host: str) -> bool:
    """Returns whether the host can be looked up at all."""
    try:
        return bool(host) and not _blank(host) and bool(host.encode("idna"))
    except UnicodeError:
        return False


def _blank(text: str) -> bool:
    return any(not character.isprintable() or character.isspace() for character in text)
