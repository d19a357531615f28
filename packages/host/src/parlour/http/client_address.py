"""Determines the address of a client: its own, or the one that a trusted proxy sends in its headers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from parlour_sdk.values import dataclass

FORWARDING_HEADERS = frozenset(
    ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port", "x-real-ip")
)
"""Headers that only a proxy sends. They prove nothing, but a request that has one did not come directly from a user."""
_PORT = re.compile(r":\d{1,5}$")
_MAX_HOPS = 50
_MAX_FORWARDED_CHARACTERS = 4096

Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Forwarded:
    """Data that the nearest proxy sends about a request; missing parts are empty."""

    client: str = ""
    scheme: str = ""
    host: str = ""


def parse_address(value: str) -> Address | None:
    """Parses an address with or without brackets and port; an IPv4-mapped IPv6 address becomes IPv4."""
    text = value.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = _PORT.sub("", text)
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def limit_key(text: str) -> str:
    """Returns the key under which limits count an address. IPv6 clients are counted per /64 network, which one client
    can use as a whole."""
    address = parse_address(text)
    if isinstance(address, IPv6Address):
        return str(ip_network((int(address) >> 64 << 64, 64)))
    return str(address) if address else text


def is_loopback_address(text: str) -> bool:
    address = parse_address(text)
    return address is not None and address.is_loopback


class TrustedProxies:
    """Reads `Forwarded` and `X-Forwarded-*` headers of the configured trusted proxies."""

    def __init__(self, text: Sequence[str]) -> None:
        self._networks = [ip_network(each, strict=False) for each in text]

    def __bool__(self) -> bool:
        return bool(self._networks)

    def includes(self, text: str) -> bool:
        address = parse_address(text)
        return address is not None and any(address in network for network in self._networks)

    def parse_headers(self, headers: Iterable[tuple[bytes, bytes]]) -> Forwarded:
        """Reads the headers of a trusted proxy. If both kinds name a client and differ, neither counts: a proxy that
        sets one kind forwards the other as the client sent it."""
        values: dict[str, str] = {}
        for raw, value in headers:
            name = raw.decode("latin-1")
            if name in FORWARDING_HEADERS:
                text = value.decode("latin-1")
                values[name] = f"{values[name]},{text}" if name in values else text
        if not values:
            return Forwarded()
        standard = self._parse_forwarded(values.get("forwarded", ""))
        common = self._parse_x_forwarded(values)
        if standard is None or common is None:
            return standard or common or Forwarded()
        return standard if standard.client == common.client else Forwarded()

    def _parse_x_forwarded(self, headers: Mapping[str, str]) -> Forwarded | None:
        if not {"x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"} & headers.keys():
            return None
        client = self._client(_list(headers.get("x-forwarded-for", "")))
        scheme, host = (
            (_list(headers.get(name, "")) or [""])[-1] for name in ("x-forwarded-proto", "x-forwarded-host")
        )
        return Forwarded(client, _scheme(scheme), host)

    def _parse_forwarded(self, header: str) -> Forwarded | None:
        """Parses `Forwarded` (RFC 7239), whose last element comes from the nearest proxy."""
        if not header:
            return None
        if len(header) > _MAX_FORWARDED_CHARACTERS:
            return Forwarded()
        elements = [_parameters(each) for each in _split(header, ",")]
        client = self._client([each.get("for", "") for each in elements])
        last = elements[-1] if elements else {}
        return Forwarded(client, _scheme(last.get("proto", "")), last.get("host", ""))

    def _client(self, hops: Sequence[str]) -> str:
        """Returns the last hop that is not a trusted proxy; everything before it is an unverified claim of the
        client."""
        for hop in list(reversed(hops))[:_MAX_HOPS]:
            address = parse_address(hop)
            if address is None:
                return ""
            if not any(address in network for network in self._networks):
                return str(address)
        first_hop = parse_address(hops[0]) if hops else None
        return str(first_hop) if first_hop else ""


def _list(header: str) -> list[str]:
    return [each.strip() for each in header.split(",") if each.strip()]


def _split(text: str, separator: str) -> list[str]:
    """Splits a text outside quotes and drops empty parts."""
    parts, start, in_quotes = [], 0, False
    for index, character in enumerate(text):
        if character == '"':
            in_quotes = not in_quotes
        elif character == separator and not in_quotes:
            parts.append(text[start:index])
            start = index + 1
    return [each.strip() for each in (*parts, text[start:]) if each.strip()]


def _parameters(element: str) -> dict[str, str]:
    pairs = (each.partition("=") for each in _split(element, ";"))
    return {name.strip().lower(): value.strip().strip('"') for name, _, value in pairs}


def _scheme(text: str) -> str:
    scheme = text.casefold()
    return scheme if scheme in ("http", "https") else ""
