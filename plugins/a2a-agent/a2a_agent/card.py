"""Reads the card of an A2A agent: where and how it is called, in the versions 1.0 and 0.3 of the protocol."""

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from parlour_sdk.agents import http_agent as http
from parlour_sdk.values import dataclass

PATHS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
"""Where a card is, in the order in which they are tried."""
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "::1"})
"""Hosts in a card that only the agent's own machine can mean."""
Version = Literal["1.0", "0.3"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and how an agent is called."""

    name: str
    path: str
    version: Version
    is_rest: bool
    streams: bool


def find_endpoint(card: Mapping[str, Any], base_url: str) -> Endpoint:
    """Returns the first interface of the card that can be used. Raises ServiceFailure if there is none."""
    name = str(card.get("name") or "agent")
    streams = bool((card.get("capabilities") or {}).get("streaming"))
    interfaces = [
        (str(each.get("url") or ""), str(each.get("protocolBinding")), str(each.get("protocolVersion") or "1.0"))
        for each in card.get("supportedInterfaces") or []
    ]
    if not interfaces:  # a card of 0.3 or before
        version = str(card.get("protocolVersion") or "0.3")
        interfaces = [(str(card.get("url") or ""), str(card.get("preferredTransport") or "JSONRPC"), version)]
        others = card.get("additionalInterfaces") or []
        interfaces += [(str(each.get("url") or ""), str(each.get("transport")), version) for each in others]
    for url, binding, given in interfaces:
        version: Version = "1.0" if given.startswith("1") else "0.3"
        is_rest = binding == "HTTP+JSON" and version == "1.0"
        if url and (is_rest or binding == "JSONRPC"):
            return Endpoint(name, _own_path(url, base_url), version, is_rest, streams)
    offered = ", ".join(sorted({binding for _, binding, _ in interfaces})) or "none"
    raise http.ServiceFailure("config", f"the agent {name} offers {offered}; JSONRPC or HTTP+JSON is needed")


def needed_scheme(card: Mapping[str, Any]) -> str:
    """Returns the kind of credentials that the card asks for, as the setting `auth` has it; empty if it says none."""
    schemes = card.get("securitySchemes") or {}
    if not (card.get("security") or card.get("securityRequirements")):
        return ""
    for scheme in schemes.values():
        fields = next((value for value in scheme.values() if isinstance(value, dict)), scheme)
        if "apiKeySecurityScheme" in scheme or scheme.get("type") == "apiKey":
            return f"header {fields.get('name') or ''}".strip()
        if str(fields.get("scheme") or "").lower() == "basic":
            return "basic"
        return "bearer"
    return ""


def _own_path(url: str, base_url: str) -> str:
    """Returns the address of the interface. Raises ServiceFailure if it is at another place than the card."""
    given, own = urlsplit(url), urlsplit(base_url)
    is_same = (given.scheme, given.netloc) == (own.scheme, own.netloc)
    if not is_same and given.hostname not in LOCAL_NAMES and given.hostname != own.hostname:
        place = f"{given.scheme}://{given.netloc}"
        raise http.ServiceFailure("config", f"base_url: the card is of an agent at {place}; enter that address")
    return f"{own.scheme}://{own.netloc}{given.path.rstrip('/') or '/'}"
