"""Validates settings that are addresses: the external address of the Host, proxies, and the collector of traces."""

import re
from ipaddress import ip_network
from urllib.parse import SplitResult, urlsplit

from pydantic_core import PydanticCustomError

OWN_PATHS = frozenset(("a2a", "agui", "api", "assets", "hooks", "healthz", "readyz", "metrics", "v1"))
"""First path segments that the Host serves itself; a prefix that begins with one would be ambiguous."""
_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)+")


def validate_public_url(value: str) -> str:
    """Returns the address without a trailing slash; raises PydanticCustomError with what is accepted."""
    if not value:
        return ""
    parts = _split(value)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise PydanticCustomError("public_url", "must look like https://chat.example.org or https://example.org/chat")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise PydanticCustomError("public_url", "takes no user, password, query or fragment")
    return f"{parts.scheme}://{parts.netloc}{validate_base_path(parts.path)}"


def validate_base_path(value: str) -> str:
    """Returns `/prefix` without a trailing slash, or an empty string if there is no prefix."""
    path = value.rstrip("/")
    if not path:
        return ""
    segments = path.split("/")[1:]
    if not _PREFIX.fullmatch(path) or {".", ".."} & set(segments):
        raise PydanticCustomError("base_path", "must look like /chat: segments of letters, digits and . _ ~ -")
    if segments[0] in OWN_PATHS:
        context = {"segment": segments[0]}
        raise PydanticCustomError(
            "base_path", "can't begin with /{segment}, which is a path of the Host itself", context
        )
    return path


def validate_proxies(value: list[str]) -> list[str]:
    """Accepts addresses and networks of proxies."""
    for each in value:
        try:
            ip_network(each, strict=False)
        except ValueError as error:
            message = "must hold addresses or networks such as 127.0.0.1 or 10.0.0.0/8, not names"
            raise PydanticCustomError("trusted_proxies", message) from error
    return value


def validate_collector_url(value: str) -> str:
    """Accepts the address of an OpenTelemetry collector."""
    if not value:
        return ""
    parts = _split(value)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname or " " in value:
        raise PydanticCustomError("telemetry_endpoint", "must look like http://127.0.0.1:4318")
    return value


def host_name(url: str) -> str:
    """Returns the host name of an address, or an empty string."""
    parts = _split(url)
    return (parts.hostname or "") if parts else ""


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises ValueError if it is not a number
    except ValueError:
        return None
    return parts
